#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Cryptography
import Foundation
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultStorage

/// A home to be destroyed, and what must not be found in it afterwards.
struct DoomedHome {
    static let limit = 5
    static let records: [CrashSubject.Operation] = [
        CrashSubject.Operation([.set(Place("s", "a"), Content(seed: 1, size: 400))]),
        CrashSubject.Operation([.set(Place("s", "b"), Content(seed: 2, size: 30_000))]),
        CrashSubject.Operation([.set(Place("s", "file"), Content(seed: 3, size: 1_060_000))]),
    ]

    let scratch: Scratch
    let template: String
    /// Wrapped keys, commitments, salts, the keybag, the ledger's sectors, the receipt's key, and values in clear.
    let secrets: [[UInt8]]

    /// - Parameter refused: Wrong passcodes that were tried already.
    init(refused: Int, selfDestruct: Bool = true) throws {
        scratch = try Scratch()
        template = scratch["template"]
        try Vault.createKnown(template, scratch.clock)
        let vault = try Vault.known(template, scratch.clock)
        try vault.unlock(0)
        for operation in DoomedHome.records { try vault.perform(operation) }
        if selfDestruct { try vault.switchSelfDestruct(true) }
        vault.lock()
        for number in 0..<refused {
            #expect(
                code { try vault.verify(passcode: Known.wrongPasscode(number), spending: vault.burnAttempt()) }
                    == .wrongPasscode)
            scratch.clock.advance(milliseconds: 3_600_001)
        }
        let bytes = { [template] (name: String) in
            Array(try Data(contentsOf: URL(fileURLWithPath: "\(template)/\(name)")))
        }
        let header = try Header(parsing: Array(bytes("header")[..<Header.copySize])) { BLAKE3.hash($0).bytes }
        var secrets =
            header.slots.flatMap { [$0.wrappedKey, $0.commitment, $0.salt, $0.nonce] } + [header.sealedKeybag]
        let ledger = try bytes("ledger")
        secrets += [Array(ledger[28..<76]), Array(ledger[4096 + 28..<4096 + 76])]
        if selfDestruct { secrets.append(Array(try bytes("receipt.key")[32..<64])) }
        let state = try bytes("log.state")
        secrets += stride(from: 0, to: state.count - 32, by: 32).map { Array(state[$0..<$0 + 32]) }.filter {
            Set($0).count > 20
        }
        secrets += [Content(seed: 1, size: 400), Content(seed: 2, size: 30_000)].map { Array($0.bytes()[..<32]) }
        self.secrets = secrets
    }

    func copy() throws {
        try scratch.copyHome(template, to: scratch.home)
        for name in ["receipt.key", "log", "log.state"]
        where FileManager.default.fileExists(atPath: "\(template)/\(name)")
            && !FileManager.default.fileExists(atPath: "\(scratch.home)/\(name)")
        {
            try FileManager.default.copyItem(atPath: "\(template)/\(name)", toPath: "\(scratch.home)/\(name)")
        }
    }

    /// Whether a start says that the vault is destroyed; such a start finishes whatever was begun.
    func isWiped() throws -> Bool {
        do {
            _ = try Vault.known(scratch.home, scratch.clock)
            return false
        } catch let error as VaultError where error.code == .wiped { return true }
    }

    /// What is wrong with a home that must be destroyed; nil when nothing is.
    func leftovers() throws -> String? {
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.home).sorted()
        guard names == ["wipe-receipt"] else { return "left: \(names)" }
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: "\(scratch.home)/wipe-receipt")))
        if secrets.contains(where: { Data(bytes).range(of: Data($0)) != nil }) { return "the receipt holds a secret" }
        let receipt = try WipeReceipt(verifying: bytes)
        return receipt.isComplete ? nil : "the receipt is not complete"
    }

    /// What is wrong with a home that must be whole.
    func damage() throws -> String? {
        let vault = try Vault.known(scratch.home, scratch.clock)
        try vault.unlock(phrase: Known.phrase(0))
        var expected = Acknowledged()
        for operation in DoomedHome.records {
            expected.begin(operation)
            expected.end(done: true)
        }
        if let problem = try expected.compare(vault) { return problem }
        return try vault.verifyAndClean()
    }
}

/// Every call that changes a file fails in turn while a vault is destroyed or its self-destruct is switched.
@Suite(.seeded, .serialized) struct WipeFaultTests {
    @Test(arguments: Fault.allCases)
    func `a fault at any call of the last attempt gives no try and ends in a whole vault or in none`(fault: Fault)
        throws
    {
        let doomed = try DoomedHome(refused: DoomedHome.limit - 1)
        var generator = TestRun.generator("wipe at the limit \(fault.rawValue)")
        let disk = FaultyDisk(scratch: doomed.scratch)
        let arguments = ["wipe-limit", doomed.scratch.home, doomed.scratch.clock.path, "4"]
        try doomed.copy()
        let calls = try disk.calls(of: arguments, under: doomed.scratch.home, expecting: ["guess wiped"])
        let chosen = FaultyDisk.choose(calls, 8, fault, using: &generator)
        var (wiped, whole, closed, resumed) = (0, 0, 0, 0)
        for call in chosen {
            try doomed.copy()
            let environment = fault.environment(at: call, seed: generator.next() >> 2)
            let lines = try disk.run(arguments, under: doomed.scratch.home, environment)
            let context = "\(fault.rawValue), \(FaultyDisk.name(call, in: calls))"
            #expect((lines.last == "end") == (fault.isSurvived || call > calls.count), "\(context)")
            let isFinished =
                try FileManager.default.contentsOfDirectory(atPath: doomed.scratch.home) == ["wipe-receipt"]
            guard try !doomed.isWiped() else {
                #expect(try doomed.leftovers() == nil, "\(context)")
                #expect(try doomed.isWiped() && doomed.leftovers() == nil, "a second start; \(context)")
                wiped += 1
                resumed += isFinished ? 0 : 1
                continue
            }
            #expect(!lines.contains("failed wiped"), "it said that it was destroyed; \(context)")
            // Not begun: at most the one attempt that this was may be left, and no more.
            let vault = try Vault.known(doomed.scratch.home, doomed.scratch.clock)
            doomed.scratch.clock.advance(milliseconds: 3_600_001)
            let tried = code {
                try vault.verify(passcode: Known.wrongPasscode(100), spending: vault.burnAttempt())
            }
            if tried == .wiped {
                let isChecked = lines.contains { $0.hasPrefix("failed wrongPasscode") }
                #expect(!isChecked, "six passcodes were checked; \(context)")
                #expect(try doomed.leftovers() == nil, "\(context)")
                whole += 1
            } else {
                #expect(tried == .attemptsExhausted, "\(context)")
                #expect(try doomed.damage() == nil, "\(context)")
                closed += 1
            }
        }
        #expect(wiped > 0)
        TestRun.report(
            "last attempt, \(fault.rawValue)",
            "\(chosen.count) of \(calls.count) calls: \(wiped) destroyed, \(resumed) of them by the next start, "
                + "\(whole) with the attempt still to be had, \(closed) closed")
    }

    @Test(arguments: Fault.allCases)
    func `a fault at any call of a deliberate wipe ends in a whole vault or in none`(fault: Fault) throws {
        for hasKey in [false, true] {
            let doomed = try DoomedHome(refused: 0, selfDestruct: hasKey)
            var generator = TestRun.generator("wipe by the owner \(fault.rawValue) \(hasKey)")
            let disk = FaultyDisk(scratch: doomed.scratch)
            let arguments = ["wipe-owner", doomed.scratch.home, doomed.scratch.clock.path]
            try doomed.copy()
            let calls = try disk.calls(of: arguments, under: doomed.scratch.home)
            let chosen = FaultyDisk.choose(calls, 5, fault, using: &generator)
            var (wiped, whole) = (0, 0)
            for call in chosen {
                try doomed.copy()
                let environment = fault.environment(at: call, seed: generator.next() >> 2)
                let lines = try disk.run(arguments, under: doomed.scratch.home, environment)
                let context =
                    "\(fault.rawValue), key before: \(hasKey), \(FaultyDisk.name(call, in: calls)), "
                if lines.contains("finished") { #expect(try doomed.leftovers() == nil, "\(context)") }
                if try doomed.isWiped() {
                    #expect(lines.contains("announced"), "erased before the key was shown; \(context)")
                    #expect(try doomed.leftovers() == nil, "\(context)")
                    wiped += 1
                } else {
                    #expect(!lines.contains("finished") && !lines.contains("unfinished"), "\(context)")
                    #expect(try doomed.damage() == nil, "\(context)")
                    whole += 1
                }
            }
            TestRun.report(
                "deliberate wipe, \(fault.rawValue), key before: \(hasKey)",
                "\(chosen.count) of \(calls.count) calls: \(wiped) destroyed, \(whole) whole")
        }
    }

    @Test(arguments: Fault.allCases)
    func `a wipe that is stopped again and again ends`(fault: Fault) throws {
        let doomed = try DoomedHome(refused: DoomedHome.limit - 1)
        var generator = TestRun.generator("wipe resumed \(fault.rawValue)")
        let scratch = doomed.scratch
        let disk = FaultyDisk(scratch: scratch)
        let limit = ["wipe-limit", scratch.home, scratch.clock.path, "4"]
        let start = ["wipe-start", scratch.home, scratch.clock.path]
        try doomed.copy()
        let calls = try disk.calls(of: limit, under: scratch.home, expecting: ["guess wiped"])
        let firstMark = try #require(calls.firstIndex(of: "pwrite header"))
        var stops = 0
        for round in 0..<(TestRun.isSoak ? 100 : 2) {
            try doomed.copy()
            let seed = generator.next() >> 2
            let at = Int.random(in: (firstMark + 3)...calls.count, using: &generator)
            _ = try disk.run(limit, under: scratch.home, Fault.kill.environment(at: at, seed: seed))
            var isOver = false
            for again in 0..<10 where !isOver {
                let call = Int.random(in: 1...14, using: &generator)
                let lines = try disk.run(start, under: scratch.home, fault.environment(at: call, seed: seed))
                stops += 1
                isOver = try FileManager.default.contentsOfDirectory(atPath: scratch.home) == ["wipe-receipt"]
                let isHeld = fault == .noSpace || fault == .readOnly
                if isHeld && again > 3 { break }  // never ends on such a disk, as it must
                #expect(
                    !lines.contains("done"), "a start went on with a vault that is being destroyed; round \(round)")
            }
            #expect(try doomed.isWiped(), "round \(round)")
            #expect(try doomed.leftovers() == nil, "round \(round)")
        }
        TestRun.report("wipe resumed, \(fault.rawValue)", "\(stops) starts under faults")
    }

    @Test(arguments: Fault.allCases)
    func `a fault at any call of a switch leaves it on or off and the vault whole`(fault: Fault) throws {
        let doomed = try DoomedHome(refused: 0, selfDestruct: false)
        var generator = TestRun.generator("switch \(fault.rawValue)")
        let scratch = doomed.scratch
        let disk = FaultyDisk(scratch: scratch)
        let arguments = ["toggle", scratch.home, scratch.clock.path]
        try doomed.copy()
        let calls = try disk.calls(of: arguments, under: scratch.home)
        let chosen = FaultyDisk.choose(calls, 6, fault, using: &generator)
        var (on, off) = (0, 0)
        for call in chosen {
            try doomed.copy()
            let lines = try disk.run(
                arguments, under: scratch.home, fault.environment(at: call, seed: generator.next() >> 2))
            let context = "\(fault.rawValue), \(FaultyDisk.name(call, in: calls))"
            let vault = try Vault.known(scratch.home, scratch.clock)
            try vault.unlock(0)
            let isOn = try #require(vault.authenticatedPolicy).selfDestruct
            on += isOn ? 1 : 0
            off += isOn ? 0 : 1
            // The last change that was acknowledged, and the one after it that was not.
            var possible: Set<Bool> = [false]
            var asked = false
            for line in lines {
                if line.hasPrefix("begin switch") {
                    asked = line.hasSuffix("1")
                    possible.insert(asked)
                } else if line == "done" {
                    possible = [asked]
                }
            }
            #expect(possible.contains(isOn), "\(context)")
            let key = try vault.wipeReceiptKey
            if isOn { #expect(key?.origin == .enabled, "on without a key; \(context)") }
            vault.lock()
            #expect(try doomed.damage() == nil, "\(context)")
            try vault.switchSelfDestruct(false)
            #expect(!FileManager.default.fileExists(atPath: "\(scratch.home)/receipt.key"), "\(context)")
        }
        TestRun.report("switch, \(fault.rawValue)", "\(chosen.count) of \(calls.count) calls: \(on) on, \(off) off")
    }
}
#endif
