import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultHeader
@testable import VaultLog
@testable import VaultStorage

/// What the log's keys on the disk, and keys from before a rekey, tell and allow.
@Suite struct LogKeysTests {
    private let home: TestHome
    private let vault: Vault

    init() throws {
        home = try TestHome()
        _ = try home.create()
        vault = try home.open()
        try vault.unlock("right")
    }

    private func state() throws -> LogState {
        try Array(home.bytes("log.state").prefix(LogState.size)).withRawSpan { bytes throws(FormatError) in
            try LogState(parsing: bytes, checksum: HeaderFile.checksum)
        }
    }

    private func stateKey() throws -> LogKey {
        try Array(home.bytes("log.state")).withRawSpan { try LogKey(copying: $0.extracting(LogState.keyRange)) }
    }

    private func slots() throws -> [[UInt8]] {
        let log = try home.bytes("log")
        return stride(from: LogFormat.slotSize, to: log.count, by: LogFormat.slotSize).map {
            Array(log[$0..<min(log.count, $0 + LogFormat.slotSize)])
        }
    }

    private func rekey(_ vault: Vault, _ old: String, _ new: String) throws {
        try vault.rekey(
            passcode: secret(old), spending: vault.burnAttempt(), newPasscode: secret(new),
            phrase: Vault.newRecoveryPhrase(), isNewPhrase: true)
        try vault.finishRekey()
    }

    /// Everything that a thief with one copy of the home can compute, tried on all that comes after it: the key of the
    /// copy leads forward, and tells that an entry was written, and nothing else.
    @Test func whoCopiedTheStateReadsNothingThatComesLater() throws {
        let copied = try state()
        var key = try stateKey()
        vault.appendDrills(3)
        vault.lock(because: .panic)
        #expect(errorCode { try vault.unlock("wrong") } == .wrongPasscode)
        try vault.unlock("right")
        let later = try slots().dropFirst(Int(copied.next))
        #expect(later.count >= 6)
        let front = try #require(LogSegment.front(of: home.bytes("log")))
        for (place, slot) in later.enumerated() {
            let index = copied.next + UInt64(place)
            let isProved = slot.withRawSpan { key.proves($0, at: index, vault: front.vault, chain: front.chain) }
            #expect(isProved, "the copied key leads to entry \(index)")
            // As a private key, as a key of the box, at this place and with everything that follows from it.
            let guess = try LogEpochKey(secret(key.withBytes { $0.array }), epoch: 1, vault: front.vault)
            let opened = slot.withRawSpan { guess.open($0, at: index, chain: front.chain) }
            #expect(opened == nil)
            try key.evolve()
        }
        // Two entries that say the same have nothing in common.
        let boxes = later.map { Array($0[LogFormat.boxRange]) }
        for (index, box) in boxes.enumerated() {
            for other in boxes[..<index] {
                let equal = zip(box, other).count { $0 == $1 }
                #expect(equal < 30, "\(equal) bytes in common")
            }
        }
    }

    /// The old header with the old passcode, put beside everything that a rekey left.
    @Test func keysFromBeforeARekeyReadAndProveNothingLater() throws {
        let oldHeader = try home.bytes("header")
        try rekey(vault, "right", "next")
        vault.appendDrills(3)
        let header = try Header(parsing: Array(oldHeader[..<Header.copySize]), checksum: HeaderFile.checksum)
        let slot = try #require(header.passcodeSlot)
        let old = try SlotKey(factor: SlotKey.stretch(secret("right"), for: slot), slot: slot)
        let master = try old.unwrap(slot, vault: header.vault, policyDigest: header.policy.digest())
        let oldKeys = try vault.open(header, master: master, proving: .keyBound)
        let stolen = try oldKeys.logKeys().newest
        let front = try #require(LogSegment.front(of: home.bytes("log")))
        #expect(front.epoch == 2 && stolen.epoch == 1)
        var key = try stolen.first(of: front.chain)
        for (index, slot) in try slots().enumerated() {
            let isProved = slot.withRawSpan {
                key.proves($0, at: UInt64(index), vault: front.vault, chain: front.chain)
            }
            let opened = slot.withRawSpan { stolen.open($0, at: UInt64(index), chain: front.chain) }
            #expect(!isProved && opened == nil, "entry \(index)")
            try key.evolve()
        }
        #expect(
            try oldKeys.keybag.key(.identity, epoch: 1).withBytes { $0.array }
                != vault.gate.current?.keys.keybag.key(.identity, epoch: 2).withBytes { $0.array })
        #expect(try vault.securityLog().isIntact)
        #expect(try vault.logged().suffix(5) == ["restarted", "rekeyed", "drill", "drill", "drill"])
    }

    /// Somebody with the old keys writes another past, and another present.
    @Test func aLogForgedWithKeysFromBeforeARekeyIsFound() throws {
        vault.appendDrills(2)
        let old = LogFiles(of: home)
        let epochOne = try vault.logKeys().newest
        try rekey(vault, "right", "next")
        #expect(try vault.securityLog().isIntact)
        let good = LogFiles(of: home)

        // The past: an entry of the segment before, made anew under its own key.
        var forged = good
        let front = try #require(LogSegment.front(of: forged["log.old"]))
        var key = try epochOne.first(of: front.chain)
        try key.evolve(by: 2)
        let recipient = epochOne.recipient.point
        let point = try unsafe P256PublicKey(compressed: recipient.span.bytes)
        let other = LogEntry(moment: vault.log.now, event: .drill(passed: false))
        let slot = try key.seal(other, at: 2, vault: front.vault, chain: front.chain, to: point)
        forged["log.old"].replaceSubrange(forged.slot(2), with: slot)
        try forged.restore(to: home)
        #expect(try vault.logFindings() == ["changed@0"])

        // The present: the earlier log, with its state.
        try old.restore(to: home)
        #expect(try !vault.securityLog().isIntact)
        vault.lock()
        try vault.unlock("next")
        #expect(try vault.logFindings().contains("restarted@0"))
        #expect(try LogSegment.front(of: home.bytes("log"))?.epoch == 2, "it does not go on under the old key")

        try good.restore(to: home)
        #expect(try vault.logFindings() == [])
    }

    /// A public key in the state that is not the vault's: what was written meanwhile is somebody else's, and the owner
    /// is told at the next unlock.
    @Test func anotherPublicKeyIsNoticedAndReplaced() throws {
        vault.lock()
        let mine = try P256PrivateKey.generate()
        var state = try state()
        let key = try stateKey()
        let genuine = state.recipient
        state.recipient = LogState.Recipient(epoch: 1, point: mine.publicKey.compressed)
        let file = try #require(try LogStateFile.open(.appending, in: vault.home, vault: state.vault))
        try file.write(state, key: key)
        _ = consume file
        #expect(errorCode { try vault.unlock("wrong") } == .wrongPasscode)
        try vault.unlock("right")
        #expect(try self.state().recipient == genuine)
        let report = try vault.securityLog()
        #expect(
            report.findings.map { "\($0.kind)@\($0.position)" } == [
                "unreadable@\(state.next)", "altered@\(state.next + 1)",
            ])
        #expect(report.entries.suffix(2).map(\.event.name) == ["altered", "unlocked"])
        vault.appendDrills(1)
        #expect(try vault.logged().last == "drill")
    }

    /// What somebody writes into the state while the vault is locked: the next unlock begins a chain that the vault
    /// proves, whatever the state says of itself, and says so. Nothing that comes later is lost.
    @Test(arguments: ["key", "higher epoch", "full", "far ahead"])
    func aStateThatIsNotTheVaultsIsHealedByTheNextUnlock(_ what: String) throws {
        vault.lock()
        var state = try state()
        let genuine = try #require(state.recipient)
        var key = try stateKey()
        switch what {
        case "key": key = try [UInt8](repeating: 7, count: 32).withRawSpan { try LogKey(copying: $0) }
        case "higher epoch":
            state.recipient = try LogState.Recipient(epoch: 9, point: P256PrivateKey.generate().publicKey.compressed)
        case "full": (state.first, state.next) = (LogFormat.mostEntries - 1, LogFormat.mostEntries)
        default: (state.first, state.next) = (1 << 20, 1 << 20)
        }
        let file = try #require(try LogStateFile.open(.appending, in: vault.home, vault: state.vault))
        try file.write(state, key: key)
        _ = consume file
        for _ in 0..<2 {
            try vault.unlock("right")
            vault.appendDrills(1)
            #expect(try vault.logged().suffix(2) == ["unlocked", "drill"])
            let report = try vault.securityLog()
            #expect(!report.findings.contains { [.unreadable, .state, .cut].contains($0.kind) }, "\(report.findings)")
            #expect(!report.isIntact, "the owner is told")
            #expect(try self.state().recipient == genuine)
            vault.lock()
        }
        try vault.unlock("right")
        #expect(try vault.logged().contains("created"), "what was there before is kept")
    }

    /// The same in the moment of a rekey: the new keys still begin their chain.
    @Test(arguments: [2, 3] as [UInt32])
    func aStateOfAnotherEpochDoesNotKeepTheLogFromItsNewKeys(_ epoch: UInt32) throws {
        var state = try state()
        state.recipient = try LogState.Recipient(epoch: epoch, point: P256PrivateKey.generate().publicKey.compressed)
        let attempt = try vault.burnAttempt()
        let file = try #require(try LogStateFile.open(.appending, in: vault.home, vault: state.vault))
        try file.write(state, key: stateKey())
        _ = consume file
        try vault.rekey(
            passcode: secret("right"), spending: attempt, newPasscode: secret("next"),
            phrase: Vault.newRecoveryPhrase(), isNewPhrase: true)
        try vault.finishRekey()
        vault.appendDrills(1)
        #expect(try LogSegment.front(of: home.bytes("log"))?.epoch == 2)
        #expect(try vault.logged().suffix(2) == ["rekeyed", "drill"])
        #expect(try self.state().recipient == vault.logKeys().newest.recipient)
    }

    /// A kill after the state is of the new chain and before its segment is in its place: nothing is called tampering,
    /// and the new chain has the hash of the old one.
    @Test func aKillBeforeTheNewSegmentIsInItsPlaceIsMadeUpFor() throws {
        vault.appendDrills(2)
        try rekey(vault, "right", "next")
        let front = try #require(LogSegment.front(of: home.bytes("log")))
        var key = try vault.firstLogKey(front)
        try key.evolve()
        vault.lock()
        var cut = LogFiles(of: home)
        let slots = Array(cut["log"].prefix(2 * LogFormat.slotSize))
        (cut["log.new"], cut["log"]) = (slots, cut["log.old"])
        try cut.restore(to: home, only: ["log", "log.new"])
        try FileManager.default.removeItem(atPath: home.file("log.old"))
        var state = try state()
        (state.first, state.next, state.tail) = (0, 1, Array(slots.suffix(LogFormat.tagSize)))
        let file = try #require(try LogStateFile.open(.appending, in: vault.home, vault: state.vault))
        try file.write(state, key: key)
        _ = consume file

        if Decryptor.python != nil {
            let theirs = try Decryptor.verifyLog(home.path, "--passcode-fd", "next")
            #expect(theirs.status == 0, "\(theirs.text)")
        }
        try vault.unlock("next")
        let report = try vault.securityLog()
        #expect(report.isIntact, "\(report.findings)")
        #expect(report.entries.suffix(2).map(\.event.name) == ["restarted", "unlocked"])
        #expect(report.entries.contains { $0.event.name == "created" })
    }

    /// New keys, and nothing moved to them yet.
    private func beginRekey() throws {
        try vault.rekey(
            passcode: secret("right"), spending: vault.burnAttempt(), newPasscode: secret("next"),
            phrase: Vault.newRecoveryPhrase(), isNewPhrase: true)
        #expect(try vault.isRekeyUnfinished)
    }

    /// Somebody with the old keys does not wait until the rekey is finished.
    @Test func `a log from before a rekey put back while it is unfinished is found`() throws {
        vault.appendDrills(2)
        let old = LogFiles(of: home)
        try beginRekey()
        let good = LogFiles(of: home)
        #expect(try vault.securityLog().isIntact)
        try old.restore(to: home)
        #expect(try vault.logFindings().contains { $0.hasPrefix("state@") })
        if Decryptor.python != nil {
            #expect(try Decryptor.verifyLog(home.path, "--passcode-fd", "next").status == 5)
        }
        vault.lock()
        try vault.unlock("next")
        #expect(try vault.logFindings().contains("restarted@0"), "it is not gone on from as if it had yet to go over")

        try good.restore(to: home)
        #expect(try vault.logFindings() == [])
        try vault.finishRekey()
        #expect(try vault.logFindings() == [])
        let keys = try #require(vault.gate.current).keys
        #expect(keys.keybag.epochs(of: .logReached) == [], "the note goes with the older keys")
    }

    /// A rekey that ends before the log could go over: the next unlock makes up for both, and nothing is found. Who has
    /// the exported keys in between finds nothing either.
    @Test func `a log that could not go over yet is as it was written`() throws {
        vault.appendDrills(2)
        let folder = home.file("log.new")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try beginRekey()
        #expect(try LogSegment.front(of: home.bytes("log"))?.epoch == 1)
        #expect(try vault.logFindings() == [])
        let key = try vault.exportSecurityLogKey(proof: ownersProof(vault, "next"))
        #expect(key.count == 36, "without the one that the log has not come to")
        if Decryptor.python != nil {
            let digits = Hexadecimal.encode(key.withBytes { $0.array })
            let theirs = try Decryptor.verifyLog(home.path, "--key-fd", digits)
            #expect(theirs.status == 0, "\(theirs.text)")
            #expect(try Decryptor.verifyLog(home.path, "--passcode-fd", "next").status == 0)
        }
        vault.lock()
        try FileManager.default.removeItem(atPath: folder)
        try vault.unlock("next")
        #expect(try LogSegment.front(of: home.bytes("log"))?.epoch == 2)
        #expect(try vault.logFindings() == [])
        #expect(try #require(vault.gate.current).keys.keybag.epochs(of: .logReached) == [2])
        #expect(try vault.followHeader(), "an agent goes on")
        #expect(try vault.exportSecurityLogKey(proof: ownersProof(vault, "next")).count == 72)
    }

    /// A run in the state is believed by nobody who counts wrong passcodes.
    @Test func `a run that somebody wrote into the state hides no wrong passcode`() throws {
        vault.lock()
        var state = try state()
        var run = LogRun(since: 0)
        for _ in 0..<20 { run.add(.repeated) }
        state.run = LogState.Run(run: run, kind: .repeated, last: vault.log.now)
        let file = try #require(try LogStateFile.open(.appending, in: vault.home, vault: state.vault))
        try file.write(state, key: stateKey())
        _ = consume file
        for number in 0..<3 {
            let before = try home.bytes("log").count
            #expect(errorCode { try vault.unlock("wrong \(number)") } == .wrongPasscode)
            #expect(try home.bytes("log").count == before + LogFormat.slotSize, "\(number)")
            home.clock.advance(seconds: 3601)
        }
        try vault.unlock("right")
        #expect(try vault.logged().suffix(4) == ["refused", "refused", "refused", "unlocked"])
        #expect(try vault.securityLog().isIntact)
    }

    /// A folder somebody made in the place of the older part keeps neither log nor rekey from continuing.
    @Test func aFolderInThePlaceOfTheOlderPartStopsNothing() throws {
        let folder = home.file("log.old")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Data([1]).write(to: URL(fileURLWithPath: folder + "/x"))
        try rekey(vault, "right", "next")
        #expect(try vault.securityLog().isIntact)
        #expect(try vault.logged().suffix(2) == ["restarted", "rekeyed"])
    }

    /// A backup stays what its manifest says when it is opened, also one of a vault whose keys were changed.
    @Test func anOpenedBackupCanStillBeRestored() throws {
        try rekey(vault, "right", "next")
        let copy = try TestHome()
        _ = try vault.backup(to: copy.path)
        let backup = try copy.open()
        for _ in 0..<3 {
            try backup.unlock("next")
            backup.lock()
        }
        let restored = try TestHome()
        _ = try Vault.restore(from: copy.path, to: restored.path)
        try restored.open().unlock("next")
    }

    /// The earlier key goes when nothing is left under it.
    @Test func anOldLogKeyGoesWithItsSegment() throws {
        try rekey(vault, "right", "next")
        #expect(try vault.logKeys()[1] != nil, "the segment before is still under it")
        for round in 0..<2 {
            try home.fillLog(of: vault, upTo: TestRun.entriesPerSegment * UInt64(round + 1))
            vault.appendDrills(1)
        }
        vault.lock()
        try vault.unlock("next")
        vault.lock()
        try vault.unlock("next")
        #expect(try vault.logKeys()[1] == nil)
        #expect(try vault.securityLog().isIntact)
        let passcode = try secret("next")
        let proof = try vault.prove(passcode: passcode, spending: vault.burnAttempt())
        let exported = try vault.exportSecurityLogKey(proof: proof)
        #expect(exported.count == 36)
    }

    @Test func aHomeOfAnEarlierBuildIsNamedAndNotCalledDamaged() throws {
        vault.lock()
        let copy = try Array(home.bytes("header")[..<Header.copySize])
        var changed = Array(copy.dropLast(32))
        changed[14] = 0
        let earlier = changed + changed.withRawSpan { BLAKE3.hash($0).bytes }
        for bytes in [earlier + earlier, copy + earlier, earlier + copy] {
            try home.write(bytes, to: "header")
            let error = #expect(throws: VaultError.self) { try vault.unlock("right") }
            #expect(error?.code == .newerVersion && error?.reason.contains("before the first release") == true)
            #expect(try home.bytes("header") == bytes, "nothing is written over it")
        }
        try home.write(copy + copy, to: "header")
        try vault.unlock("right")
        #expect(try vault.status().remainingAttempts == 5)
    }
}
