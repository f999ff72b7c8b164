internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

/// Where a new recovery phrase goes: a descriptor that was named, else the terminal itself. Never standard output or
/// standard error by themselves, which may be a log.
struct PhraseDelivery {
    private let descriptor: Int32?
    /// What is said above the words.
    private let heading: String

    /// - Throws: A usage error when there is neither, before anything is created.
    init(_ arguments: Arguments) throws(CommandError) {
        descriptor = arguments[Options.phraseOutDescriptor]
        heading =
            "This is the recovery phrase of the vault. It opens the vault without the passcode.\n"
            + "Write it on paper now. It is shown only once and not stored anywhere.\n\n"
        guard descriptor == nil, !Terminal.isThere else { return }
        throw .usage("there is no terminal to show the recovery phrase on; use --phrase-out-fd N")
    }

    /// For the phrase of an identity.
    /// - Throws: As ``init(_:)``.
    init(identity arguments: Arguments) throws(CommandError) {
        descriptor = arguments[Options.recoveryOutDescriptor]
        heading =
            "This is the recovery phrase of your IDENTITY, not of the vault. It recovers your account if you lose all your\n"
            + "devices. Write it on paper now, labelled \"identity\". It is shown only once and not stored anywhere.\n\n"
        guard descriptor == nil, !Terminal.isThere else { return }
        throw .usage("there is no terminal to show the recovery phrase on; use --recovery-out-fd N")
    }

    /// Whether the words are shown on a terminal, so that the user can confirm having written them down.
    var isShown: Bool { descriptor == nil }

    func deliver(_ phrase: borrowing RecoveryPhrase) throws(CommandError) {
        try phrase.withText { text throws(CommandError) in try deliver(text) }
    }

    /// - Parameter text: The words with one space between two.
    func deliver(_ text: RawSpan) throws(CommandError) {
        if let descriptor {
            try Descriptors.write(text, to: descriptor)
            try Output.write("\n", to: descriptor)
            fsync(descriptor)  // a pipe cannot be, a file should be
        } else {
            try show(text)
        }
    }

    /// Hands the words over; a user who reads them on the terminal says that they are written down. Until this returns nothing may
    /// rest on them, so that no user is left without a phrase that the vault needs.
    /// - Parameter consequence: What it means that they were not: "no vault was created".
    /// - Throws: `phraseNotDelivered`, `cancelled`.
    func deliverConfirmed(
        _ phrase: borrowing RecoveryPhrase, else consequence: String
    ) throws(CommandError) {
        do throws(CommandError) { try deliver(phrase) } catch {
            throw .failure(
                "phraseNotDelivered", "the recovery phrase could not be handed over (\(error.what)); \(consequence)")
        }
        guard isShown else { return }
        let answer = try HeldSignals.released { () throws(CommandError) in
            guard let terminal = Terminal() else { return "" }
            return try terminal.readAnswer(prompt: "Type yes when you have written it down: ")
        }
        guard answer == "yes" else {
            throw .failure("cancelled", "cancelled; \(consequence), and this phrase is not valid")
        }
    }

    private func show(_ text: RawSpan) throws(CommandError) {
        guard let terminal = Terminal() else { throw .failure("output", "the terminal was closed") }
        try terminal.write("\n" + heading)
        let sheet = try PhraseSheet(text)
        try sheet.lend { bytes throws(CommandError) in try terminal.write(bytes) }
        try terminal.write("\n")
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
        let rows = (words.count + PhraseSheet.columns - 1) / PhraseSheet.columns
        let width = PhraseSheet.columns * PhraseSheet.cell + 1
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
