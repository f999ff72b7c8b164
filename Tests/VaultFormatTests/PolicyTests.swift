import TestSupport
import Testing
import VaultFormat

@Suite(.seeded) struct PolicyTests {
    private func error(_ bytes: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try VaultPolicy(parsing: bytes) }
    }

    private func bytes(minima: [UInt8]) -> [UInt8] { [1, 5, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0] + minima }

    @Test func bytesAreThoseOfTheDocument() throws {
        #expect(try Sample.policy.encoded() == Sample.policyBytes)
        #expect(try VaultPolicy(parsing: Sample.policyBytes) == Sample.policy)
    }

    @Test func theStandardPolicyIsThatOfTheDocument() throws {
        let delays = [0, 0, 30, 60, 300, 900, 1800, 3600] as [UInt32]
        let expected = [1, 5, 0, 0, 0, 0, 0, 8] + delays.flatMap(little) + [0, 0]
        #expect(try VaultPolicy.standard.encoded() == expected)
        #expect(try VaultPolicy(parsing: expected) == .standard)
    }

    @Test func equalPoliciesHaveEqualBytes() throws {
        var generator = SeededGenerator()
        var names = (0..<60).map { "collection \($0)" } + ["", "Z", "a", "ä", "z", "\u{10FFFF}", "~"]
        var encodings: Set<[UInt8]> = []
        for _ in 0..<20 {
            names.shuffle(using: &generator)
            var policy = VaultPolicy.standard
            for name in names { policy.collectionMinima[name] = .presence }
            encodings.insert(try policy.encoded())
        }
        #expect(encodings.count == 1)
    }

    @Test func everyOtherSizeIsRefused() {
        for count in 0..<Sample.policyBytes.count where error(Array(Sample.policyBytes.prefix(count))) == nil {
            Issue.record("\(count) bytes were taken")
        }
        #expect(error(Sample.policyBytes + [0]) == .wrongSize)
    }

    @Test func everyFlippedByteIsCanonicalOrRefused() throws {
        for offset in Sample.policyBytes.indices {
            for value in UInt8.min...UInt8.max where value != Sample.policyBytes[offset] {
                let changed = Sample.policyBytes.with(value, at: offset)
                guard let policy = try? VaultPolicy(parsing: changed) else { continue }
                #expect(try policy.encoded() == changed, "offset \(offset)")
                #expect(policy != Sample.policy, "offset \(offset) is ignored")
            }
        }
    }

    @Test func fieldsOutsideTheirRangesAreRefused() {
        let valid = bytes(minima: [0, 0])
        #expect(error(valid) == nil)
        for (offset, byte, field) in [
            (0, 0, "policy version"), (0, 5, "policy version"), (1, 2, "policy attempt limit"),
            (1, 11, "policy attempt limit"), (1, 255, "policy attempt limit"), (2, 2, "policy flags"),
            (2, 255, "policy flags"),
        ] as [(Int, UInt8, StaticField)] {
            #expect(error(valid.with(byte, at: offset)) == .invalid(field: field))
        }
        #expect(error([1, 5, 0, 0, 0, 0, 0, 0, 0, 0]) == .invalid(field: "policy delays"), "no delay")
        #expect(error([1, 5, 0, 0, 0, 0, 0, 17] + repeated(0, 70)) == .invalid(field: "policy delays"))
        #expect(error([1, 5, 0, 0, 0, 0, 0, 255]) == .invalid(field: "policy delays"))
        let falling = [1, 5, 0, 0, 0, 0, 0, 2] + little(UInt32(30)) + little(UInt32(29)) + [0, 0]
        #expect(error(falling) == .invalid(field: "policy delays"))
        #expect(error(valid.replacing(at: 8, with: little(UInt32(3601)))) == .invalid(field: "policy delays"))
    }

    @Test func minimaAreInOrderAndOnce() {
        #expect(error(bytes(minima: [2, 0] + [1, 0, 0x61, 1] + [1, 0, 0x62, 1])) == nil)
        #expect(
            error(bytes(minima: [2, 0] + [1, 0, 0x62, 1] + [1, 0, 0x61, 1])) == .invalid(field: "policy order"))
        #expect(
            error(bytes(minima: [2, 0] + [1, 0, 0x61, 1] + [1, 0, 0x61, 2])) == .invalid(field: "policy order"))
        // One name to Unicode, two to a byte comparison: nothing may depend on which of them is looked up.
        let composed = [2, 0, 0xC3, 0xA9, 1] as [UInt8]
        let decomposed = [3, 0, 0x65, 0xCC, 0x81, 1] as [UInt8]
        #expect(error(bytes(minima: [2, 0] + decomposed + composed)) == .invalid(field: "policy order"))
        #expect(error(bytes(minima: [1, 0] + [1, 0, 0xFF, 1])) == .invalid(field: "policy collection"), "not UTF-8")
        #expect(error(bytes(minima: [1, 0] + [1, 0, 0x61, 5])) == .invalid(field: "policy collection"))
        #expect(
            error(bytes(minima: [1, 0] + [0, 1] + repeated(0x61, 256) + [1])) == .invalid(field: "policy collection"))
        #expect(error(bytes(minima: [1, 0] + [255, 0] + repeated(0x61, 255) + [1])) == nil)
        #expect(error(bytes(minima: [0xFF, 0xFF])) == .wrongSize)
        #expect(error(bytes(minima: [1, 0, 0xFF, 0xFF])) == .invalid(field: "policy collection"))
    }

    @Test func whatCannotBeReadIsNotWritten() {
        func error(_ change: (inout VaultPolicy) -> Void) -> FormatError? {
            var policy = VaultPolicy.standard
            change(&policy)
            return formatError { () throws(FormatError) in _ = try policy.encoded() }
        }
        for limit in [2, 11, -1, 256, .max, .min] {
            #expect(error { $0.attemptLimit = limit } == .invalid(field: "policy attempt limit"))
        }
        #expect(error { $0.delays = [] } == .invalid(field: "policy delays"))
        #expect(error { $0.delays = [UInt32](repeating: 1, count: 17) } == .invalid(field: "policy delays"))
        #expect(error { $0.delays = [UInt32](repeating: 1, count: 16) } == nil)
        #expect(error { $0.delays = [3601] } == .invalid(field: "policy delays"))
        #expect(error { $0.delays = [2, 1] } == .invalid(field: "policy delays"))
        let long = String(repeating: "c", count: 256)
        #expect(error { $0.collectionMinima = [long: .none] } == .invalid(field: "policy collection"))
        #expect(
            error { policy in
                for number in 0..<400 { policy.collectionMinima["\(number)"] = .presence }
            } == .headerFull)
    }

    @Test func lockTimingsKeepTheirMeaning() {
        #expect(LockTiming.immediately.seconds == 0)
        #expect(LockTiming.onRelaunch.seconds == nil && LockTiming.onRelaunch.rawValue == 0xFFFF_FFFE)
        #expect(LockTiming.never.seconds == nil && LockTiming.never.rawValue == 0xFFFF_FFFF)
        #expect(LockTiming.after(seconds: .max).seconds == 0xFFFF_FFFD)
        #expect(LockTiming.after(seconds: 900).seconds == 900)
    }

    @Test func assuranceIsOrdered() {
        #expect(Assurance.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
        #expect(Assurance.allCases == [.none, .presence, .keyBound, .hardwareBound, .hardwareLimited])
        #expect(Assurance.allCases.sorted() == Assurance.allCases && Assurance.presence < .keyBound)
    }
}

@Suite struct PolicyDurationTests {
    @Test func `delays and countdown are durations of whole seconds, rounded up`() {
        var policy = VaultPolicy.standard
        #expect(policy.attemptDelays == [0, 0, 30, 60, 300, 900, 1800, 3600].map { .seconds($0) })
        policy.attemptDelays = [.zero, .milliseconds(1), .seconds(5), .seconds(-1)]
        #expect(policy.delays == [0, 1, 5, .max])
        policy.countdown = .milliseconds(45_500)
        #expect(policy.selfDestructCountdown == 46 && policy.countdown == .seconds(46))
        policy.countdown = .seconds(Int64.max)
        #expect(policy.selfDestructCountdown == .max, "refused when it is written")
    }

    @Test func `a lock timing is a duration or a word`() {
        #expect(LockTiming.after(.seconds(90)).duration == .seconds(90))
        #expect(LockTiming.after(.milliseconds(999)) == .immediately)
        #expect(LockTiming.after(.seconds(-5)) == .immediately)
        #expect(LockTiming.after(.seconds(Int64.max)).duration == .seconds(UInt32.max - 2))
        #expect(LockTiming.never.duration == nil && LockTiming.onRelaunch.duration == nil)
    }
}
