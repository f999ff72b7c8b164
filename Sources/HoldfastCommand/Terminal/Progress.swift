internal import SystemCalls

/// One line on a terminal's standard error that tells how far long work is, and goes away when it is done. Without a
/// terminal it does nothing.
struct Progress {
    private let label: String
    private let isShown: Bool
    private let start: UInt64
    private var lastDrawn: UInt64 = 0

    private init(label: String, isShown: Bool, start: UInt64) {
        self.label = label
        self.isShown = isShown
        self.start = start
    }

    /// What is shown after this time, and how often it is drawn again; ns.
    private static let patience: UInt64 = 300_000_000
    private static let interval: UInt64 = 100_000_000

    /// Runs work that tells how far it is. The line is gone when this returns or throws, before anything else is said.
    /// - Parameter isAllowed: False where the line would stand between the command's own output.
    static func show<R>(
        _ label: String, isAllowed: Bool = true, _ work: (inout Progress) throws(CommandError) -> R
    ) throws(CommandError) -> R {
        var progress = Progress(label: label, isShown: isAllowed && isPossible, start: MonotonicClock.nanoseconds)
        defer { progress.erase() }
        return try work(&progress)
    }

    /// Whether standard error is a terminal that can erase a line.
    static var isPossible: Bool {
        guard Descriptors.isTerminal(STDERR_FILENO) else { return false }
        guard let kind = unsafe getenv("TERM") else { return false }
        return unsafe strcmp(kind, "dumb") != 0
    }

    /// - Parameters:
    ///   - total: Nil or 0 when it is not known.
    ///   - unit: Writes an amount.
    mutating func update(_ done: UInt64, of total: UInt64?, unit: (UInt64) -> String = Format.size) {
        guard isShown else { return }
        let now = MonotonicClock.nanoseconds
        guard now - start > Progress.patience, now - lastDrawn > Progress.interval else { return }
        lastDrawn = now
        var line = label
        if let total, total > 0 {
            let share = Double(min(done, total)) / Double(total)
            let width = max(0, min(30, Terminal.columns(STDERR_FILENO) - label.utf8.count - 30))
            let filled = Int(share * Double(width))
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
            line += " [\(bar)] \(Int(share * 100)) %, \(unit(done)) of \(unit(total))"
        } else {
            line += " \(unit(done))"
        }
        try? Output.write("\r\u{1B}[K" + line, to: STDERR_FILENO)
    }

    /// As ``update(_:of:unit:)``, for things that are counted.
    mutating func update(_ done: Int, of total: Int) {
        update(UInt64(max(0, done)), of: UInt64(max(0, total))) { "\($0)" }
    }

    private func erase() {
        if lastDrawn > 0 { try? Output.write("\r\u{1B}[K", to: STDERR_FILENO) }
    }
}

/// A remark that stands on a terminal's standard error while something runs. After a secret was typed, nothing is shown
/// of what is typed meanwhile.
enum PassingNote {
    static func show<R: ~Copyable>(_ text: String, _ body: () throws(CommandError) -> R) throws(CommandError) -> R {
        guard Terminal.hasAsked else { return try shown(text, body) }
        return try Silence.hold { () throws(CommandError) in try shown(text, body) }
    }

    private static func shown<R: ~Copyable>(
        _ text: String, _ body: () throws(CommandError) -> R
    ) throws(CommandError) -> R {
        let isShown = Progress.isPossible
        if isShown { try? Output.write(text, to: STDERR_FILENO) }
        defer { erase() }
        return try body()
    }

    /// Takes the remark away before something is said meanwhile.
    static func erase() {
        if Progress.isPossible { try? Output.write("\r\u{1B}[K", to: STDERR_FILENO) }
    }
}
