import CAdw
import GtkKit
import Holdfast

/// Asks what another program wants to have asked, in a window of its own: the agent, and each program that speaks with
/// a pinentry program. It opens no vault, and knows no more than it is told.
final class PromptWindow {
    private let app: Application
    private let window: Window
    private let title: Label, text: Label, problem: Label, remaining: Label, field: Label
    private let secret: Editable
    private let yes: Button, no: Button
    private var talk = AssuanTalk()
    private var waiting: [UInt8] = []
    private var asked: AssuanTalk.Words?
    private var countdown: Task<Void, Never>?
    private var input: Input?

    init(_ app: Application, _ place: Place) {
        self.app = app
        app.addStyle(PackageResources.style_css)
        app.addIcons(place.icons)
        let ui = Builder(PackageResources.prompt_ui)
        window = ui.widget("prompt")
        title = ui.widget("prompt-title")
        text = ui.widget("prompt-text")
        problem = ui.widget("prompt-problem")
        remaining = ui.widget("prompt-remaining")
        field = ui.widget("prompt-field")
        secret = ui.widget("prompt-secret")
        yes = ui.widget("prompt-yes")
        no = ui.widget("prompt-no")
        window.setApplication(app)
        yes.onClick { [unowned self] in accept() }
        no.onClick { [unowned self] in end(asked?.isSecret == true ? .cancelled : .refused) }
        secret.onActivate { [unowned self] in accept() }
        _ = app.action("cancel", keys: ["Escape"]) { [unowned self] in end(.cancelled) }
        window.onEmission("close-request") { [unowned self] _, _ in
            end(.cancelled)
            return true
        }
        input = Input(STDIN_FILENO) { [unowned self] in receive() }
        say(AssuanTalk.greeting)
    }

    private func receive() {
        let bytes = input?.take() ?? []
        // Whoever asked has gone, and nobody would hear an answer.
        guard !bytes.isEmpty else { return leave() }
        waiting += bytes
        // A program that writes without end is none.
        guard waiting.count <= 64 * AssuanTalk.longestLine else { return leave() }
        advance()
    }

    /// Does what was said, until something is to be asked.
    private func advance() {
        while asked == nil, !waiting.isEmpty {
            switch talk.receive(waiting.removeFirst()) {
            case nil: break
            case .say(let line): say(line)
            case .ask(let words): ask(words)
            case .leave:
                say("OK closing connection")
                return leave()
            case .hang: return leave()
            }
        }
    }

    private func leave() {
        input?.end()
        countdown?.cancel()
        secret.clear()
        app.quit()
    }

    private func ask(_ words: AssuanTalk.Words) {
        asked = words
        title.text = words.title.isEmpty ? "Holdfast" : words.title
        text.text = words.text
        problem.text = words.problem
        problem.isVisible = !words.problem.isEmpty
        field.text = words.field
        field.isVisible = words.isSecret && !words.field.isEmpty
        secret.accessibleLabel(words.field.isEmpty ? tr("Passcode") : words.field)
        secret.isVisible = words.isSecret
        secret.clear()
        yes.label = words.yes.isEmpty ? tr("Continue") : words.yes
        no.label = words.no.isEmpty ? tr("Cancel") : words.no
        no.isVisible = !words.isMessage
        count(words.seconds)
        window.present()
        // Enter, typed into whatever was in front a moment ago, must not be a yes.
        if words.isSecret { secret.focus() } else { (words.isMessage ? yes : no).focus() }
    }

    /// Shows how long the question is open, and closes it then.
    private func count(_ seconds: Int) {
        countdown?.cancel()
        remaining.isVisible = seconds > 0
        guard seconds > 0 else { return }
        let end = Int(g_get_monotonic_time()) + seconds * 1_000_000
        countdown = Task { [weak self] in
            while let self, !Task.isCancelled {
                let left = (end - Int(g_get_monotonic_time()) + 999_999) / 1_000_000
                guard left > 0 else { return self.end(.timedOut) }
                remaining.text = trn("%d second left", "%d seconds left", left)
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func accept() {
        guard let asked else { return }
        guard asked.isSecret else { return end(.yes) }
        do throws(SecretMemoryError) {
            let typed = try secret.takeSecret()
            try typed.withBytes { bytes throws(SecretMemoryError) in try send(bytes) }
            end(.yes)
        } catch { end(.failed) }
    }

    private func end(_ ending: AssuanTalk.Ending) {
        guard asked != nil else { return }
        asked = nil
        countdown?.cancel()
        secret.clear()
        window.isVisible = false
        say(ending.rawValue)
        advance()
    }

    private func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        bytes.withUnsafeBytes { put($0) }
    }

    /// Bytes of a secret that are in one line, at most: each may need three, and a line has a thousand.
    private static let bytesOfLine = 300

    /// Sends a secret, escaped, from locked memory.
    private func send(_ secret: RawSpan) throws(SecretMemoryError) {
        for start in stride(from: 0, to: secret.byteCount, by: PromptWindow.bytesOfLine) {
            let part = secret.extracting(start..<min(start + PromptWindow.bytesOfLine, secret.byteCount))
            var line = try SecretBytes(zeroed: 3 + 3 * part.byteCount)
            var count = 0
            line.withMutableBytes { line in
                line.withUnsafeMutableBytes { line in
                    func add(_ byte: UInt8) {
                        line[count] = byte
                        count += 1
                    }
                    add(UInt8(ascii: "D"))
                    add(UInt8(ascii: " "))
                    part.withUnsafeBytes { part in
                        for byte in part {
                            guard byte < 0x20 || byte == UInt8(ascii: "%") else {
                                add(byte)
                                continue
                            }
                            add(UInt8(ascii: "%"))
                            for digit in [byte >> 4, byte & 15] {
                                add(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
                            }
                        }
                    }
                    add(UInt8(ascii: "\n"))
                }
            }
            line.withBytes { line in
                line.withUnsafeBytes { put(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            }
        }
    }

    private func put(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            let count = write(STDOUT_FILENO, rest.baseAddress, rest.count)
            guard count > 0 else { return }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }
}
