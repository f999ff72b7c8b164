/// Events that anyone can cause without a secret. Many in a row are written as few entries, so that a flood of them
/// never pushes older entries out of the log.
package enum UnprovenEvent: UInt8, Sendable, Hashable, CaseIterable {
    /// A wrong passcode.
    case refused = 0
    /// The same wrong passcode once more; it was not counted.
    case repeated = 1
    /// A wrong recovery phrase.
    case wrongPhrase = 2
    /// No try was taken: a delay ran, or none was left.
    case turnedAway = 3
    /// A biometric prompt that ended without a match, where such prompts count.
    case biometricFailed = 4
    /// A backup was made; nothing is asked for that.
    case backedUp = 5
    /// The key store knows of a newer state of this home, or of none.
    case rollbackReported = 6

    /// Its stable word.
    package var name: String {
        switch self {
        case .refused: "refused"
        case .repeated: "repeated"
        case .wrongPhrase: "wrongPhrase"
        case .turnedAway: "turnedAway"
        case .biometricFailed: "biometricFailed"
        case .backedUp: "backedUp"
        case .rollbackReported: "rollbackReported"
        }
    }

    /// Whether the attempt ledger bounds how often it comes: then each has an entry, whatever the state says of the
    /// run. The state is proved by nothing while the vault is locked.
    package var isBounded: Bool { self == .refused || self == .biometricFailed }

    /// Whether it costs nothing to cause it again: told once, and then only after something else.
    package var isToldOnce: Bool { self == .turnedAway || self == .rollbackReported }
}

/// Events of ``UnprovenEvent`` with nothing else between them.
///
/// The first sixteen have an entry each, then only those whose number is a power of two, and those that the ledger
/// bounds: so at most half of a longer run is told by the state alone, and ends in an entry as soon as something else
/// is written.
package struct LogRun: Sendable, Hashable {
    static let eachUpTo: UInt32 = 16

    /// How many of each, by raw value.
    private var counts: [UInt32]
    /// When the run began: milliseconds since 1970 by the clock of the machine.
    package let since: Int64

    /// An empty run that begins now.
    package init(since: Int64) {
        counts = [UInt32](repeating: 0, count: UnprovenEvent.allCases.count)
        self.since = since
    }

    /// How many there were of it.
    package subscript(kind: UnprovenEvent) -> UInt32 { counts[Int(kind.rawValue)] }

    /// How many there were in all.
    package var total: UInt32 { counts.reduce(0) { $0 &+ $1 } }

    package mutating func add(_ kind: UnprovenEvent) {
        guard total < .max else { return }
        counts[Int(kind.rawValue)] += 1
    }

    /// Whether the run's last event gets an entry at once.
    /// - Parameter last: Which it is.
    package func isWritten(_ last: UnprovenEvent) -> Bool {
        last.isBounded || total <= LogRun.eachUpTo || total & (total - 1) == 0
    }

    func write(to writer: inout ByteWriter) {
        for count in counts { writer.integer(count) }
        writer.integer(UInt64(bitPattern: since))
    }

    init(reading reader: inout ByteReader) throws(FormatError) {
        counts = []
        var sum: UInt64 = 0
        for _ in UnprovenEvent.allCases {
            counts.append(try reader.integer(UInt32.self))
            sum += UInt64(counts[counts.count - 1])
        }
        guard sum <= UInt64(UInt32.max) else { throw .invalid(field: "log run") }
        since = Int64(bitPattern: try reader.integer(UInt64.self))
    }
}
