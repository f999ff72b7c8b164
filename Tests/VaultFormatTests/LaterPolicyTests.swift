import Testing
import VaultFormat

/// Version 2 of the policy: what came after the first vaults.
@Suite struct LaterPolicyTests {
    private func error(_ bytes: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try VaultPolicy(parsing: bytes) }
    }

    private static let front = [2, 5, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] as [UInt8]
    private static let strict = [2, 3, 2, 0, 0, 0, 4, 2, 0b0100_0111, 0, 0] as [UInt8]

    private func bytes(switches: UInt8 = 5, countdown: UInt32 = 30, fallback: [UInt8] = strict) -> [UInt8] {
        Self.front + [switches] + little(countdown) + fallback
    }

    @Test func bytesAreThoseOfTheDocument() throws {
        #expect(try Sample.laterPolicy.encoded() == Sample.laterPolicyBytes)
        #expect(try VaultPolicy(parsing: Sample.laterPolicyBytes) == Sample.laterPolicy)
        #expect(error(bytes()) == nil)
    }

    @Test func whatIsAllDefaultKeepsItsOldBytes() throws {
        #expect(error(bytes(switches: 4)) == .invalid(field: "policy version"))
        #expect(try VaultPolicy.standard.encoded().first == 1)
        #expect(try Sample.policy.encoded() == Sample.policyBytes)
        #expect(try VaultPolicy(parsing: [1] + Self.front.dropFirst()).fallback == .strict)
    }

    @Test func eachAddedFieldAsksForVersion2() throws {
        let changes: [(inout VaultPolicy) -> Void] = [
            { $0.isLockEnabled = true }, { $0.usesBiometrics = true }, { $0.countsBiometricFailures = false },
            { $0.selfDestructCountdown = 31 }, { $0.fallback = .convenient },
        ]
        var encodings: Set<[UInt8]> = [try VaultPolicy.standard.encoded()]
        for change in changes {
            var policy = VaultPolicy.standard
            change(&policy)
            let bytes = try policy.encoded()
            #expect(bytes.first == 2 && encodings.insert(bytes).inserted)
            #expect(try VaultPolicy(parsing: bytes) == policy)
        }
    }

    @Test func everyOtherSizeIsRefused() {
        for count in 0..<Sample.laterPolicyBytes.count where error(Array(Sample.laterPolicyBytes.prefix(count))) == nil
        {
            Issue.record("\(count) bytes were taken")
        }
        #expect(error(Sample.laterPolicyBytes + [0]) == .wrongSize)
        #expect(error(Sample.policyBytes + [5, 30, 0, 0, 0] + Self.strict) == .wrongSize, "version 1 has none of it")
    }

    @Test func everyFlippedByteIsCanonicalOrRefused() throws {
        for offset in Sample.laterPolicyBytes.indices {
            for value in UInt8.min...UInt8.max where value != Sample.laterPolicyBytes[offset] {
                let changed = Sample.laterPolicyBytes.with(value, at: offset)
                guard let policy = try? VaultPolicy(parsing: changed) else { continue }
                #expect(try policy.encoded() == changed, "offset \(offset)")
                #expect(policy != Sample.laterPolicy, "offset \(offset) is ignored")
            }
        }
    }

    @Test func fieldsOutsideTheirRangesAreRefused() {
        #expect(error(bytes(switches: 16)) == .invalid(field: "policy switches"))
        #expect(error(bytes(switches: 0x80)) == .invalid(field: "policy switches"))
        for seconds in [0, 29, 86_401, .max] as [UInt32] {
            #expect(error(bytes(countdown: seconds)) == .invalid(field: "policy countdown"))
            var policy = VaultPolicy.standard
            policy.selfDestructCountdown = seconds
            #expect(
                formatError { () throws(FormatError) in _ = try policy.encoded() }
                    == .invalid(field: "policy countdown"))
        }
        #expect(error(bytes(countdown: 86_400)) == nil)
    }

    @Test(
        arguments: [
            [1, 0, 2, 0, 0, 0], [1, 6, 2, 0, 0, 0], [1, 3, 5, 0, 0, 0],  // none, or unknown
            // An assurance that the step never has.
            [1, 3, 1, 0, 0, 0], [1, 4, 3, 0, 0, 0], [1, 5, 1, 0, 0, 0],
            [1, 3, 2, 1, 0, 0],  // a reason for the first one
            [2, 3, 2, 0, 0, 0, 4, 2, 0, 0, 0],  // none for the second
            [2, 3, 2, 0, 0, 0, 3, 2, 1, 0, 0],  // doubled
            [2, 3, 2, 0, 0, 0, 4, 2, 0x81, 0, 0],  // cancelled elsewhere
            [2, 3, 2, 0, 0, 0, 5, 0, 0x40, 0, 0],  // requested open
            [1, 3, 2, 0, 1, 0], [1, 1, 1, 0, 0xD1, 2], [1, 1, 1, 0, 0xFF, 0xFF],  // age
        ] as [[UInt8]]) func chainsThatCannotBeAreRefused(_ chain: [UInt8])
    {
        #expect(error(bytes(fallback: chain)) == .invalid(field: "policy fallback"))
    }

    private static let firstFree = [2, 1, 0, 0, 0, 0, 4, 2, 0b0100_0111, 0, 0] as [UInt8]

    @Test(arguments: [[0], firstFree] as [[UInt8]])
    func `rules that ask nobody, or take no proof of the owner, are version 3 and no other`(_ chain: [UInt8]) throws {
        let third = bytes(fallback: chain).with(3, at: 0)
        let policy = try VaultPolicy(parsing: third)
        #expect(try policy.encoded() == third)
        #expect(error(bytes(fallback: chain)) == .invalid(field: "policy version"))
        #expect(error(bytes().with(3, at: 0)) == .invalid(field: "policy version"), "neither is so")
        #expect(error(bytes().with(4, at: 0)) == .invalid(field: "policy version"))
        #expect(try VaultPolicy(parsing: bytes(switches: 4, fallback: chain).with(3, at: 0)).encoded().first == 3)
        for count in 0..<third.count { #expect(error(Array(third.prefix(count))) != nil, "\(count) bytes") }
    }

    @Test(arguments: [strict, [0], firstFree] as [[UInt8]])
    func `rules that let nothing be remembered are version 4 and no other`(_ chain: [UInt8]) throws {
        let fourth = bytes(switches: 12, fallback: chain).with(4, at: 0)
        var policy = try VaultPolicy(parsing: fourth)
        #expect(!policy.remembersPasscode)
        #expect(try policy.encoded() == fourth)
        for version in [2, 3] as [UInt8] {
            #expect(error(fourth.with(version, at: 0)) == .invalid(field: "policy version"))
        }
        #expect(error(bytes(switches: 4, fallback: chain).with(4, at: 0)) == .invalid(field: "policy version"))
        for count in 0..<fourth.count { #expect(error(Array(fourth.prefix(count))) != nil, "\(count) bytes") }
        policy.remembersPasscode = true
        #expect(try policy.encoded().first == (chain == Self.strict ? 1 : 3), "what was written before keeps its bytes")
    }

    @Test func `a policy that asks nobody is of a level and no policy of a file`() throws {
        var policy = VaultPolicy.standard
        policy.fallback = .nobody
        #expect(try VaultPolicy(parsing: policy.encoded()).fallback == .nobody)
        #expect(throws: FallbackPolicyError.self) { try FallbackPolicy([]) }
        #expect(try FallbackPolicy(FallbackPolicy.owner.rules) == .owner)
    }

    @Test func presetsAreWellFormedAndTheirOwn() throws {
        #expect(Set(FallbackPolicy.presets.map(\.policy)).count == 3)
        for (name, preset) in FallbackPolicy.presets {
            #expect(try FallbackPolicy(preset.rules) == preset, "\(name)")
            #expect(preset.presetName == name)
        }
        #expect(Sample.laterFallback.presetName == nil)
    }
}
