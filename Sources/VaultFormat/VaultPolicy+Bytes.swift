extension VaultPolicy {
    /// Version 1 has no field for what came later: it is written where all of that has its default, so that vaults of
    /// then keep their bytes and with them their digest.
    static let firstVersion: UInt8 = 1
    static let secondVersion: UInt8 = 2
    /// As the second, for vaults that ask nobody, or an owner whose confirmation proves nothing.
    static let thirdVersion: UInt8 = 3
    /// As the third, where a passcode that a command asks for is for this command alone.
    static let fourthVersion: UInt8 = 4
    static let maximumSize = 2048
    static let maximumDelays = 16

    /// Canonical bytes: equal policies have equal bytes.
    /// - Throws: ``FormatError/invalid(field:)`` for values outside their range, ``FormatError/headerFull``.
    package func encoded() throws(FormatError) -> [UInt8] {
        try validate()
        var writer = ByteWriter()
        writer.integer(version)
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
        if version != VaultPolicy.firstVersion {
            writer.integer(switches.rawValue)
            writer.integer(selfDestructCountdown)
            writer.append(fallback.encoded())
        }
        guard writer.bytes.count <= VaultPolicy.maximumSize else { throw .headerFull }
        return writer.bytes
    }

    /// Reads the canonical bytes, and only these.
    package init(parsing bytes: [UInt8]) throws(FormatError) {
        self = .standard
        var reader = ByteReader(bytes)
        let version = try reader.integer(UInt8.self)
        guard (VaultPolicy.firstVersion...VaultPolicy.fourthVersion).contains(version) else {
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
        if version != VaultPolicy.firstVersion { try readLaterFields(&reader) }
        guard self.version == version else { throw .invalid(field: "policy version") }
        try reader.expectEnd()
        guard try encoded() == bytes else { throw .invalid(field: "policy order") }
    }

    private mutating func readLaterFields(_ reader: inout ByteReader) throws(FormatError) {
        let switches = Switches(rawValue: try reader.integer(UInt8.self))
        guard switches.isSubset(of: .known) else { throw .invalid(field: "policy switches") }
        isLockEnabled = switches.contains(.lock)
        usesBiometrics = switches.contains(.biometrics)
        countsBiometricFailures = switches.contains(.biometricFailuresCount)
        remembersPasscode = !switches.contains(.remembersNothing)
        selfDestructCountdown = try reader.integer(UInt32.self)
        fallback = try FallbackPolicy(reading: &reader)
    }

    private func validate() throws(FormatError) {
        guard VaultPolicy.attemptLimits.contains(attemptLimit) else { throw .invalid(field: "policy attempt limit") }
        guard (1...VaultPolicy.maximumDelays).contains(delays.count), delays.allSatisfy({ $0 <= 3600 }),
            zip(delays, delays.dropFirst()).allSatisfy({ $0 <= $1 })
        else { throw .invalid(field: "policy delays") }
        guard collectionMinima.count <= VaultPolicy.maximumSize,
            collectionMinima.keys.allSatisfy({ $0.utf8.count <= RecordName.maximumCollectionSize })
        else {
            throw .invalid(field: "policy collection")
        }
        guard VaultPolicy.countdownRange.contains(selfDestructCountdown) else {
            throw .invalid(field: "policy countdown")
        }
    }
}

extension VaultPolicy {
    /// The switches from version 2 on as one byte.
    private struct Switches: OptionSet {
        let rawValue: UInt8
        static let lock = Switches(rawValue: 1)
        static let biometrics = Switches(rawValue: 2)
        static let biometricFailuresCount = Switches(rawValue: 4)
        static let remembersNothing = Switches(rawValue: 8)
        static let known: Switches = [.lock, .biometrics, .biometricFailuresCount, .remembersNothing]
    }

    private var switches: Switches {
        var switches: Switches = []
        if isLockEnabled { switches.insert(.lock) }
        if usesBiometrics { switches.insert(.biometrics) }
        if countsBiometricFailures { switches.insert(.biometricFailuresCount) }
        if !remembersPasscode { switches.insert(.remembersNothing) }
        return switches
    }

    /// The lowest version that has room for these rules: each has one encoding.
    private var version: UInt8 {
        if !remembersPasscode { return VaultPolicy.fourthVersion }
        if fallback.asksNobody || fallback.takesNoProof { return VaultPolicy.thirdVersion }
        return hasLaterFields ? VaultPolicy.secondVersion : VaultPolicy.firstVersion
    }

    private var hasLaterFields: Bool {
        let standard = VaultPolicy.standard
        return switches != standard.switches || selfDestructCountdown != standard.selfDestructCountdown
            || fallback != standard.fallback
    }
}
