internal import CommandLineArguments
internal import Cryptography
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

/// Where a new recovery phrase goes: a descriptor that was named, else the terminal itself. Never standard output or
/// standard error by themselves, which may be a log.
struct PhraseDelivery {
    private let descriptor: Int32?
    /// What is said above the words.
    private let heading: String
    /// Whether another phrase opens the vault until this one is confirmed.
    var replacesOne = false

    /// - Throws: A usage error when there is neither, before anything is created.
    init(_ arguments: Arguments) throws(CommandError) {
        descriptor = arguments[Options.phraseOutDescriptor]
        heading =
            "This is the recovery phrase of the vault. It opens the vault without the passcode. "
            + "Write it on paper now. It is not shown later and not stored anywhere."
        guard descriptor == nil, !Terminal.isThere else { return }
        throw .usage("there is no terminal to show the recovery phrase on; use --phrase-out-fd N")
    }

    /// For the phrase of an identity.
    /// - Throws: As ``init(_:)``.
    init(identity arguments: Arguments) throws(CommandError) {
        descriptor = arguments[Options.recoveryOutDescriptor]
        heading =
            "This is the recovery phrase of your IDENTITY, not of the vault. It recovers your account if you lose all your "
            + "devices. Write it on paper now, labelled \"identity\". It is not shown later and not stored anywhere."
        guard descriptor == nil, !Terminal.isThere else { return }
        throw .usage("there is no terminal to show the recovery phrase on; use --recovery-out-fd N")
    }

    private static let replacing = "Once it is confirmed, the old sheet no longer opens the vault."

    /// Whether the words are shown on a terminal, so that the user can confirm having written them down.
    var isShown: Bool { descriptor == nil }

    /// - Parameter text: The words with one space between two.
    private func deliver(_ text: RawSpan) throws(CommandError) {
        guard let descriptor else { return }
        try Descriptors.write(text, to: descriptor)
        try Output.write("\n", to: descriptor)
        fsync(descriptor)  // a pipe cannot be, a file should be
    }

    /// Hands the words over; on the terminal, the user types three of them as they stand on paper. Until this returns
    /// nothing may rest on them, so that no user is left without a phrase that the vault needs.
    /// - Parameters:
    ///   - text: As ``deliver(_:)``.
    ///   - consequence: What it means that they were not: "no vault was created".
    /// - Throws: `phraseNotDelivered`, `interrupted`, `cancelled`.
    func deliverConfirmed(_ text: RawSpan, else consequence: String) throws(CommandError) {
        guard isShown else {
            do throws(CommandError) { return try deliver(text) } catch {
                throw .failure(
                    .phraseNotDelivered, "the recovery phrase could not be handed over (\(error.what)); \(consequence)"
                )
            }
        }
        try HeldSignals.released { () throws(CommandError) in
            do throws(CommandError) {
                guard let terminal = Terminal() else { throw .failure(.output, "the terminal was closed") }
                let page = PhrasePage(replacesOne ? "\(heading) \(PhraseDelivery.replacing)" : heading, on: terminal)
                try page.begin()
                defer { page.end() }
                try page.confirm(text)
            } catch {
                guard error.exit != .interrupted else {
                    if replacesOne { Output.remark("The old recovery phrase still opens the vault.") }
                    throw error
                }
                let old = replacesOne ? "; the old one still opens the vault" : ""
                let why = error.code == .cancelled ? "cancelled" : error.what
                throw .failure(.cancelled, "\(why); \(consequence), and this phrase is not valid\(old)")
            }
        }
    }

    /// As ``deliverConfirmed(_:else:)``.
    func deliverConfirmed(
        _ phrase: borrowing RecoveryPhrase, else consequence: String
    ) throws(CommandError) {
        try phrase.withText { text throws(CommandError) in try deliverConfirmed(text, else: consequence) }
    }
}

/// The words on a terminal, on its second screen where it has one, and the questions for three of them.
private struct PhrasePage: ~Copyable {
    private let terminal: Terminal
    private let heading: String
    private static let widest = 80
    private let hasSecondScreen: Bool

    init(_ heading: String, on terminal: consuming Terminal) {
        hasSecondScreen = SecondScreen.isThere(terminal.descriptor)
        terminal.isOnSecondScreen = hasSecondScreen
        self.terminal = terminal
        self.heading = Escaping.wrapped(heading, to: min(self.terminal.columns, PhrasePage.widest)) + "\n"
    }

    func begin() throws(CommandError) { if hasSecondScreen { try terminal.write(SecondScreen.enter) } }

    func end() { if hasSecondScreen { try? terminal.write(SecondScreen.leave) } }

    /// Shows the words, and returns when three of them were typed.
    func confirm(_ text: RawSpan) throws(CommandError) {
        try show(text)
        for position in WordCheck.positions() {
            while true {
                let typed = try terminal.readSecret(
                    prompt: "Word \(position) of your sheet (? shows the words again): ", capacity: 256,
                    isShown: hasSecondScreen && !SecondScreen.mayBeKept)
                if typed.withBytes({ WordCheck.isRight($0, at: position, in: text) }) { break }
                if typed.withBytes({ $0.byteCount == 1 && $0.byte(at: 0) == UInt8(ascii: "?") }) {
                    try show(text)
                } else if typed.count > 0 {
                    try terminal.write("That is not word \(position).\n")
                }
            }
        }
    }

    /// Shows the words until Enter is pressed.
    private func show(_ text: RawSpan) throws(CommandError) {
        // Where it does not fit, the first words would be gone before anybody read them.
        let rows = heading.filter(\.isNewline).count + PhraseSheet.rows(text) + 3
        while hasSecondScreen, terminal.isSmaller(thanColumns: PhraseSheet.width, rows: rows) {
            try terminal.write(SecondScreen.clear)
            _ = try terminal.readAnswer(
                prompt:
                    "The words need \(rows) rows of \(PhraseSheet.width) columns. Make the window larger, then press Enter: "
            )
        }
        try terminal.write(hasSecondScreen ? SecondScreen.clear : "\n")
        try terminal.write(heading)
        let sheet = try PhraseSheet(text)
        try sheet.lend { bytes throws(CommandError) in try terminal.write(bytes) }
        _ = try terminal.readAnswer(
            prompt: "\nPress Enter when you have written it down; three words are then asked for: ")
        if hasSecondScreen, !SecondScreen.mayBeKept { return try terminal.write(SecondScreen.clear) }
        if !SecondScreen.isDumb {
            // Line by line up to the first one: a whole screen that is emptied may be kept.
            let lines = heading.filter(\.isNewline).count + PhraseSheet.rows(text) + 2
            try terminal.write(String(repeating: "\u{1B}[A\u{1B}[2K", count: lines) + "\r")
        }
        try terminal.write("This terminal may keep the words in what it scrolls back to; clear that.\n")
    }
}

/// The words of a phrase numbered in columns, in locked memory.
package struct PhraseSheet: ~Copyable {
    private let sheet: SecretBytes

    private static let columns = 4
    /// "24. " and the longest word, and a space.
    private static let cell = 4 + 8 + 2

    package init(_ text: RawSpan) throws(CommandError) {
        let words = PhraseSheet.words(text)
        let rows = PhraseSheet.rows(text)
        let width = PhraseSheet.width + 1
        var sheet = try secret(max(1, rows * width))
        sheet.withMutableBytes { sheet in
            for offset in 0..<sheet.byteCount {
                sheet.storeBytes(of: UInt8(ascii: " "), toByteOffset: offset, as: UInt8.self)
            }
            for row in 0..<rows {
                sheet.storeBytes(of: UInt8(ascii: "\n"), toByteOffset: (row + 1) * width - 1, as: UInt8.self)
            }
            for (index, word) in words.enumerated() {
                // Down the first column, then the next, as one writes a list.
                var offset = index % rows * width + index / rows * PhraseSheet.cell
                let number = index + 1
                let label = (number < 10 ? " " : "") + "\(number). "
                for byte in label.utf8 {
                    sheet.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
                    offset += 1
                }
                for position in word.prefix(8) {
                    sheet.storeBytes(of: text.byte(at: position), toByteOffset: offset, as: UInt8.self)
                    offset += 1
                }
            }
        }
        self.sheet = sheet
    }

    /// Columns of the sheet.
    static let width = columns * cell

    /// Lines of the sheet.
    package static func rows(_ text: RawSpan) -> Int { (words(text).count + columns - 1) / columns }

    /// Where the words lie; one space is between two.
    private static func words(_ text: RawSpan) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var start = 0
        for offset in 0...text.byteCount where offset == text.byteCount || text.byte(at: offset) == UInt8(ascii: " ") {
            if offset > start { words.append(start..<offset) }
            start = offset + 1
        }
        return words
    }

    package borrowing func lend<E: Error>(_ body: (RawSpan) throws(E) -> Void) throws(E) {
        try sheet.withBytes(body)
    }
}
