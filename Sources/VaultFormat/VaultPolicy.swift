/// The rules that lie in the authenticated header: who changes a byte of them makes even the right passcode fail.
public struct VaultPolicy: Sendable, Hashable {
    /// Wrong passcodes before the last consequence; 3 to 10.
    public var attemptLimit: Int
    /// Seconds to wait after failure 1, 2, 3 ...; the last one repeats. At most one hour each.
    public var delays: [UInt32]
    /// Whether reaching the limit destroys the vault. Off unless the owner asked for it.
    public var selfDestruct: Bool
    /// When an unlocked vault locks by itself after the app left the foreground.
    public var lockTiming: LockTiming
    /// Collections that need at least this assurance; others need none.
    public var collectionMinima: [String: Assurance]

    /// The rules of a new vault, and those installed when a header's own cannot be trusted any more.
    public static let standard = VaultPolicy(
        attemptLimit: 5, delays: [0, 0, 30, 60, 300, 900, 1800, 3600], selfDestruct: false,
        lockTiming: .immediately, collectionMinima: [:])

    static let encodingVersion: UInt8 = 1
    static let maximumSize = 2048
    static let maximumDelays = 16

    /// Canonical bytes: equal policies have equal bytes.
    /// - Throws: ``FormatError/invalid(field:)`` for values outside their range.
    package func encoded() throws(FormatError) -> [UInt8] {
        try validate()
        var writer = ByteWriter()
        writer.integer(VaultPolicy.encodingVersion)
        writer.integer(UInt8(attemptLimit))
        writer.integer(UInt8(selfDestruct ? 1 : 0))
        writer.integer(lockTiming.rawValue)
        writer.integer(UInt8(delays.count))
        for delay in delays { writer.integer(delay) }
        writer.integer(UInt16(collectionMinima.count))
        let sorted = collectionMinima.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (collection, assurance) in sorted {
            writer.counted(Array(collection.utf8))
            writer.integer(assurance.rawValue)
        }
        guard writer.bytes.count <= VaultPolicy.maximumSize else { throw .headerFull }
        return writer.bytes
    }

    /// Reads the canonical bytes, and only these.
    package init(parsing bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes)
        guard try reader.integer(UInt8.self) == VaultPolicy.encodingVersion else {
            throw .invalid(field: "policy version")
        }
        attemptLimit = Int(try reader.integer(UInt8.self))
        let flags = try reader.integer(UInt8.self)
        guard flags <= 1 else { throw .invalid(field: "policy flags") }
        selfDestruct = flags == 1
        lockTiming = LockTiming(rawValue: try reader.integer(UInt32.self))
        let count = Int(try reader.integer(UInt8.self))
        guard count <= VaultPolicy.maximumDelays else { throw .invalid(field: "policy delays") }
        delays = []
        for _ in 0..<count { delays.append(try reader.integer(UInt32.self)) }
        collectionMinima = [:]
        for _ in 0..<Int(try reader.integer(UInt16.self)) {
            let name = try reader.counted(limit: RecordName.maximumCollectionSize, "policy collection")
            guard let collection = String(validating: name, as: UTF8.self),
                let assurance = Assurance(rawValue: try reader.integer(UInt8.self))
            else { throw .invalid(field: "policy collection") }
            collectionMinima[collection] = assurance
        }
        try reader.expectEnd()
        guard try encoded() == bytes else { throw .invalid(field: "policy order") }
    }

    init(
        attemptLimit: Int, delays: [UInt32], selfDestruct: Bool, lockTiming: LockTiming,
        collectionMinima: [String: Assurance]
    ) {
        self.attemptLimit = attemptLimit
        self.delays = delays
        self.selfDestruct = selfDestruct
        self.lockTiming = lockTiming
        self.collectionMinima = collectionMinima
    }

    private func validate() throws(FormatError) {
        guard (3...10).contains(attemptLimit) else { throw .invalid(field: "policy attempt limit") }
        guard (1...VaultPolicy.maximumDelays).contains(delays.count), delays.allSatisfy({ $0 <= 3600 }),
            zip(delays, delays.dropFirst()).allSatisfy({ $0 <= $1 })
        else { throw .invalid(field: "policy delays") }
        guard collectionMinima.count <= VaultPolicy.maximumSize,
            collectionMinima.keys.allSatisfy({ $0.utf8.count <= RecordName.maximumCollectionSize })
        else {
            throw .invalid(field: "policy collection")
        }
    }
}

/// When an unlocked vault locks by itself: seconds in the background, or one of two words.
public struct LockTiming: Sendable, Hashable {
    /// Seconds; the two largest values stand for the words below.
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// As soon as the app leaves the foreground.
    public static let immediately = LockTiming(rawValue: 0)
    /// Only when the app is started again.
    public static let onRelaunch = LockTiming(rawValue: .max - 1)
    /// Never by itself while the process lives.
    public static let never = LockTiming(rawValue: .max)
    /// After `seconds` in the background.
    public static func after(seconds: UInt32) -> LockTiming { LockTiming(rawValue: min(seconds, .max - 2)) }

    /// Seconds in the background after which the vault locks; nil for relaunch and never.
    public var seconds: UInt32? { rawValue >= .max - 1 ? nil : rawValue }
}

/// How much a way to unlock proves, worst first so that a larger one satisfies a smaller minimum.
public enum Assurance: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    /// Nothing is asked.
    case none = 0
    /// A yes or no in front of a stored key.
    case presence = 1
    /// A secret must be known to derive the key.
    case keyBound = 2
    /// The key cannot leave a piece of hardware.
    case hardwareBound = 3
    /// Hardware counts the attempts.
    case hardwareLimited = 4

    /// Whether `left` proves less than `right`.
    public static func < (left: Assurance, right: Assurance) -> Bool { left.rawValue < right.rawValue }
}
