import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultFormat
import VaultLog
import VaultStorage

@testable import DeviceOwner
@testable import KeyStores
@testable import VaultCore
@testable import VaultHeader

@Suite struct DeviceVaultTests {
    private func code(_ body: () throws -> Void) -> VaultError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? VaultError)?.code }
    }

    // MARK: beginning

    @Test func `a vault begins without a secret, and opens again without asking`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        try vault.put(Array("value".utf8), "name")
        vault.lock()
        let again = try home.open()
        #expect(!again.isUnlocked)
        try again.openByDevice()
        #expect(try again.get("name") == Array("value".utf8))
        let protection = try again.protection()
        #expect(protection.level == .device && protection.ways == [.device] && !protection.isRecoverable)
        #expect(
            protection.shares.map(\.store) == ["\(KeyStoreKind.ofThisSystem)"]
                && protection.shares.allSatisfy(\.isRevocable))
        #expect(again.assurance == Assurance.none)
        let state = home.store.state.withLock { $0 }
        #expect(state.shares.count == 1)
        #expect(try state.floor == LevelFloor(home.header().vault, .device))
        #expect(!FileManager.default.fileExists(atPath: home.path + "/hardware.pending"))
        #expect(try home.header().policy.fallback.asksNobody)
    }

    @Test func `a collection with a minimum stays shut where nobody is asked`() throws {
        let home = try LevelHome()
        try home.create()
        var settings = home.settings
        settings.minima = ["work": .presence]
        let vault = try Vault(at: home.path, settings: settings)
        try vault.openByDevice()
        #expect(code { try vault.put([1], "name", "work") } == .assuranceTooLow)
        try vault.put([1], "name")
    }

    @Test func `a store that is not there now loses nothing, and one that lost its share says so`() throws {
        let home = try LevelHome()
        try home.opened().lock()
        home.store.state.withLock { $0.isAvailable = false }
        let vault = try home.open()
        #expect(code { try vault.openByDevice() } == .shareUnavailable)
        home.store.state.withLock { state in
            state.isAvailable = true
            state.shares = [:]
        }
        #expect(code { try vault.openByDevice() } == .shareLost)
        #expect(!vault.isUnlocked)
    }

    @Test func `a creation that fails at any call of the key store leaves nothing`() throws {
        for call in 0..<8 {
            let home = try LevelHome()
            home.store.state.withLock { $0.failsIn = call }
            let failed = code { try home.create() }
            home.store.state.withLock { $0.failsIn = nil }
            if failed != nil {
                #expect(!FileManager.default.fileExists(atPath: home.path + "/header"), "call \(call)")
                // What could not be taken away is, by the next creation.
                try home.create()
            }
            let vault = try home.open()
            try vault.openByDevice()
            #expect(home.store.state.withLock { $0.shares.count } == 1, "call \(call)")
        }
    }

    // MARK: moves

    @Test func `raised to the owner and to a passcode, the old way opens no more, and all that was stored is there`()
        throws
    {
        let home = try LevelHome()
        let vault = try home.opened()
        try vault.put(Array("value".utf8), "name")
        let first = try home.header()
        try vault.change(to: .owner(), proving: vault.proveNobody())
        #expect(try vault.protection().level == .owner && home.header().policy.isLockEnabled)
        #expect(try vault.get("name") == Array("value".utf8))
        try vault.finishRekey()
        vault.lock()

        let locked = try home.open()
        #expect(code { try locked.openByDevice() } == .passcodeNeeded)
        #expect(Way.owner.open(locked) == nil)
        #expect(locked.assurance == .presence)
        #expect(home.store.state.withLock { $0.shares.count } == 1)
        #expect(home.store.state.withLock { $0.floor?.level } == .owner)

        try locked.change(to: .secret("right"), proving: locked.prove(release()))
        try locked.finishRekey()
        locked.lock()
        let last = try home.open()
        #expect(Way.owner.open(last) != nil)
        #expect(Way.passcode.open(last) == nil)
        #expect(try last.get("name") == Array("value".utf8))
        #expect(home.store.state.withLock { $0.shares.isEmpty })
        #expect(home.store.state.withLock { $0.floor?.level } == .secret)
        #expect(try home.header().epoch == first.epoch + 2)
    }

    @Test func `the switch off wants the passcode, and leaves one way that asks nobody`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        try vault.put([7], "name")
        try vault.change(to: .secret("right"), proving: vault.proveNobody())
        try vault.finishRekey()
        #expect(code { _ = try vault.proveNobody() } == .passcodeNeeded)
        let proof = try vault.prove(passcode: secret("right"), spending: vault.burnAttempt())
        try vault.change(to: .device(), proving: proof)
        try vault.finishRekey()
        vault.lock()
        let again = try home.open()
        try again.openByDevice()
        #expect(try again.get("name") == [7])
        #expect(try home.header().slots.map(\.kind) == [.device] && home.header().policy.isLockEnabled == false)
        #expect(home.store.state.withLock { $0.floor?.level } == .device)
    }

    @Test func `nothing planted while the device was open survives a raise`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        let planted = RecoveryPhraseBox(try Vault.newRecoveryPhrase())
        // Whoever has the unlocked device writes slots of their own under the master key that is there.
        try home.plant(planted)
        #expect(try home.header().recoverySlot != nil)
        try vault.change(to: .secret("right"), proving: vault.proveNobody())
        #expect(try home.header().slots.map(\.kind) == [.passcode])
        vault.lock()
        let locked = try home.open()
        #expect(code { try locked.unlock(phrase: planted.phrase) } == .noRecoveryPhrase)
    }

    @Test func `an old header opens nothing after a raise, and with its old store only what was there before`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        try vault.put([1], "before")
        let before = home.snapshot("before")
        try vault.change(to: .secret("right"), proving: vault.proveNobody())
        try vault.finishRekey()
        try vault.put([2], "after")
        vault.lock()
        // The earlier header, with everything else as it is now.
        let header = try Data(contentsOf: URL(fileURLWithPath: before.path + "/header"))
        try header.write(to: URL(fileURLWithPath: home.path + "/header"))
        let attacked = try home.open()
        let failure = Way.device.open(attacked)
        #expect(failure?.code == .levelLowered, "the floor tells first: \(String(describing: failure))")
        home.store.state.withLock { $0.floor = nil }
        #expect(Way.device.open(try home.open())?.code == .shareLost)
        // With its old store, too.
        home.store.state.withLock { $0 = before.state }
        let rolledBack = try home.open()
        #expect(Way.device.open(rolledBack) != nil || (try? rolledBack.get("after")) == nil)
        // The whole old home with its old store is the vault of then.
        let whole = try Vault(at: before.path, settings: home.settings)
        try whole.openByDevice()
        #expect(try whole.get("before") == [1])
        #expect(code { _ = try whole.get("after") } == .recordNotFound)
    }

    @Test func `a proof that is too weak, and a failed owner, change no byte`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: home.path + "/header"))
        home.store.state.withLock { $0.takesOwner = false }
        #expect(code { try vault.change(to: .owner(), proving: vault.proveNobody()) } == VaultError.Code(.notConfirmed))
        #expect(try Data(contentsOf: URL(fileURLWithPath: home.path + "/header")) == bytes)
        #expect(home.store.state.withLock { $0.shares.count } == 1, "what was made for it is gone")
        let failed = code {
            var wish = try LevelTarget.secret("right")
            wish.canAskOwner = true
            try vault.change(to: wish, proving: vault.proveNobody())
        }
        #expect(failed == .proofTooWeak)
        #expect(try Data(contentsOf: URL(fileURLWithPath: home.path + "/header")) == bytes)
        #expect(!FileManager.default.fileExists(atPath: home.path + "/hardware.pending"))
        home.store.state.withLock { $0.takesOwner = true }
        try vault.change(to: .owner(), proving: vault.proveNobody())
        #expect(code { _ = try vault.proveNobody() } == .passcodeNeeded)
    }

    // MARK: kills

    enum Move: CaseIterable {
        case deviceToOwner, deviceToSecret, ownerToSecret, ownerToDevice, secretToDevice, secretToOwner

        var ways: (before: Way, after: Way) {
            switch self {
            case .deviceToOwner: (.device, .owner)
            case .deviceToSecret: (.device, .passcode)
            case .ownerToSecret: (.owner, .passcode)
            case .ownerToDevice: (.owner, .device)
            case .secretToDevice: (.passcode, .device)
            case .secretToOwner: (.passcode, .owner)
            }
        }

        func prepare(_ home: LevelHome) throws -> Vault {
            let vault = try home.opened()
            switch ways.before {
            case .device: break
            case .owner: try vault.change(to: .owner(), proving: vault.proveNobody())
            case .passcode: try vault.change(to: .secret("right"), proving: vault.proveNobody())
            }
            try vault.finishRekey()
            try vault.put([5], "name")
            return vault
        }

        func run(_ vault: Vault) throws {
            let proof: Proof =
                switch ways.before {
                case .device: try vault.proveNobody()
                case .owner: try vault.prove(release())
                case .passcode: try vault.prove(passcode: secret("right"), spending: vault.burnAttempt())
                }
            switch ways.after {
            case .device: try vault.change(to: .device(), proving: proof)
            case .owner: try vault.change(to: .owner(), proving: proof)
            case .passcode: try vault.change(to: .secret("right"), proving: proof)
            }
        }
    }

    /// A power cut before and after each change of the key store: what lies there then opens by one way, and after that
    /// start nothing is left over.
    @Test(arguments: Move.allCases)
    func `killed at each step, exactly one way opens and no share is left`(_ move: Move) throws {
        let home = try LevelHome()
        let vault = try move.prepare(home)
        let snapshots = Mutex<[LevelHome.Snapshot]>([])
        home.store.watch.withLock {
            $0 = {
                let number = snapshots.withLock { $0.count }
                let snapshot = home.snapshot("cut-\(number)")
                snapshots.withLock { $0.append(snapshot) }
            }
        }
        try move.run(vault)
        home.store.watch.withLock { $0 = nil }
        let end = home.snapshot("end")
        let cuts = snapshots.withLock { $0 } + [end]
        #expect(cuts.count > 1)
        var sides: Set<Bool> = []
        for cut in cuts {
            let store = ModelStore()
            store.state.withLock { $0 = cut.state }
            let settings = home.settings(store)
            let opening = [move.ways.before, move.ways.after].filter { way in
                let copy = cut.path + "-\(way)"
                try? FileManager.default.copyItem(atPath: cut.path, toPath: copy)
                guard let vault = try? Vault(at: copy, settings: settings) else { return false }
                // Looked at only: each way with a store of its own.
                let mine = ModelStore()
                mine.state.withLock { $0 = cut.state }
                guard let tried = try? Vault(at: copy, settings: home.settings(mine)) else { return false }
                _ = vault
                return way.open(tried) == nil
            }
            #expect(opening.count == 1, "\(move): \(opening) at \(cut.path)")
            guard let way = opening.first else { continue }
            sides.insert(way == move.ways.after)
            let after = try Vault(at: cut.path, settings: settings)
            #expect(way.open(after) == nil)
            #expect(try after.get("name") == [5])
            let header = try HeaderFile.read(in: HomeDirectory(path: cut.path))
            let named = Set(header.shareItems.map(\.name))
            #expect(Set(store.state.withLock { $0.shares.keys }) == named, "\(move) at \(cut.path)")
            #expect(store.state.withLock { $0.floor } == header.present, "\(move) at \(cut.path)")
            #expect(!FileManager.default.fileExists(atPath: cut.path + "/hardware.pending"), "\(move) at \(cut.path)")
            #expect(!FileManager.default.fileExists(atPath: cut.path + "/hardware.pending.refused"))
        }
        #expect(sides.contains(true))
    }

    @Test(arguments: Move.allCases)
    func `a key store that fails at any call leaves one way, and the next start puts it right`(_ move: Move) throws {
        for call in 0..<12 {
            let home = try LevelHome()
            let vault = try move.prepare(home)
            home.store.state.withLock { $0.failsIn = call }
            let failed = code { try move.run(vault) }
            home.store.state.withLock { $0.failsIn = nil }
            vault.lock()
            let opening = try [move.ways.before, move.ways.after].filter { $0.open(try home.open()) == nil }
            #expect(opening.count == 1, "\(move), call \(call), \(String(describing: failed))")
            let header = try home.header()
            let named = Set(header.shareItems.map(\.name))
            #expect(Set(home.store.state.withLock { $0.shares.keys }) == named, "\(move), call \(call)")
            #expect(home.store.state.withLock { $0.floor } == header.present, "\(move), call \(call)")
        }
    }

    // MARK: starts

    @Test func `a first start makes a vault, and later ones find it`() throws {
        let home = try LevelHome()
        let first = try Vault.start(at: home.path, settings: home.settings)
        try first.openByDevice()
        try first.put([1], "name")
        first.lock()
        let second = try Vault.start(at: home.path, settings: home.settings)
        try second.openByDevice()
        #expect(try second.get("name") == [1])
    }

    @Test func `an emptied home is missing and no place for a silent new one, until its user starts over`() throws {
        let home = try LevelHome()
        try home.opened().lock()
        try FileManager.default.removeItem(atPath: home.path)
        #expect(code { _ = try Vault.start(at: home.path, settings: home.settings) } == .vaultMissing)
        #expect(!FileManager.default.fileExists(atPath: home.path))
        home.store.state.withLock { $0.isAvailable = false }
        #expect(code { _ = try Vault.start(at: home.path, settings: home.settings) } == .shareUnavailable)
        home.store.state.withLock { $0.isAvailable = true }
        #expect(try Vault.startOver(at: home.path, settings: home.settings) == nil)
        let vault = try Vault.start(at: home.path, settings: home.settings)
        try vault.openByDevice()
    }

    /// Anyone who can write the folder can lay a marker and a note there. They have no key of the key store.
    @Test func `a marker and a note that are laid beside a vault make no place for a new one`() throws {
        for hasFloor in [true, false] {
            let home = try LevelHome()
            let vault = try home.opened()
            try vault.put([1], "name")
            vault.lock()
            let header = try home.header()
            let bytes = try Data(contentsOf: URL(fileURLWithPath: home.path + "/header"))
            var note = HardwareNote()
            note.coming = header.shareItems
            try note.write(in: HomeDirectory(path: home.path), [])
            #expect(FileManager.default.createFile(atPath: home.path + "/.creating", contents: nil))
            if !hasFloor { home.store.state.withLock { $0.floor = nil } }
            #expect(code { try Vault.createAtDevice(at: home.path, settings: home.settings) } == .exists)
            let again = try Vault.start(at: home.path, settings: home.settings)
            try again.openByDevice()
            #expect(try again.get("name") == [1])
            #expect(try Data(contentsOf: URL(fileURLWithPath: home.path + "/header")) == bytes)
            #expect(home.store.state.withLock { $0.shares.count } == 1)
            #expect(!FileManager.default.fileExists(atPath: home.path + "/.creating"))
        }
    }

    /// A power cut before and after each change of the key store, of a first start and of starting over.
    @Test(arguments: [false, true])
    func `a creation that is cut short anywhere ends in one vault with one share`(_ startsOver: Bool) throws {
        let home = try LevelHome()
        if startsOver {
            try home.opened().lock()
            try FileManager.default.removeItem(atPath: home.path)
            home.store.state.withLock { $0.shares = [:] }
        }
        let cuts = Mutex<[LevelHome.Snapshot]>([])
        home.store.watch.withLock {
            $0 = {
                let number = cuts.withLock { $0.count }
                let cut = home.snapshot("cut-\(number)")
                cuts.withLock { $0.append(cut) }
            }
        }
        if startsOver {
            _ = try Vault.startOver(at: home.path, settings: home.settings)
        } else {
            _ = try Vault.start(at: home.path, settings: home.settings)
        }
        home.store.watch.withLock { $0 = nil }
        let all = cuts.withLock { $0 }
        #expect(all.count > 3)
        for cut in all {
            let store = ModelStore()
            store.state.withLock { $0 = cut.state }
            let settings = home.settings(store)
            do throws(VaultError) { _ = try Vault.start(at: cut.path, settings: settings) } catch {
                #expect(startsOver && error.code == .vaultMissing, "\(error) at \(cut.path)")
                #expect(try Vault.startOver(at: cut.path, settings: settings) == nil, "\(cut.path)")
            }
            let vault = try Vault.start(at: cut.path, settings: settings)
            // Before the floor of a vault that was started over is there, its user confirms it.
            try vault.openByDevice(accepting: startsOver)
            let header = try HeaderFile.read(in: HomeDirectory(path: cut.path))
            #expect(Set(store.state.withLock { $0.shares.keys }) == Set(header.shareItems.map(\.name)), "\(cut.path)")
            #expect(store.state.withLock { $0.floor } == header.present)
        }
    }

    @Test func `starting over puts the old home aside and deletes nothing`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        try vault.put([1], "name")
        vault.lock()
        let shares = home.store.state.withLock { $0.shares.keys }
        let aside = try #require(try Vault.startOver(at: home.path, settings: home.settings))
        #expect(home.store.state.withLock { state in shares.allSatisfy { state.shares[$0] != nil } })
        let old = try Vault(at: aside, settings: home.settings)
        try old.openByDevice(accepting: true)
        #expect(try old.get("name") == [1])
    }

    @Test func `a wipe takes the share, and the next start says that the vault was destroyed`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        _ = try vault.wipe(proving: vault.proveNobody(), canAskOwner: false) { _ throws(VaultError) in }
        #expect(home.store.state.withLock { $0.shares.isEmpty })
        #expect(code { _ = try Vault.start(at: home.path, settings: home.settings) } == .wiped)
    }

    @Test func `a backup without a passcode or a phrase is refused, and a copy never opens with the vault's share`()
        throws
    {
        let home = try LevelHome()
        let vault = try home.opened()
        #expect(code { _ = try vault.backup(to: home.place("backup")) } == .notRecoverable)
        #expect(!FileManager.default.fileExists(atPath: home.place("backup")))
        let phrase = RecoveryPhraseBox(try Vault.newRecoveryPhrase())
        try home.plant(phrase)
        _ = try vault.backup(to: home.place("backup"))
        let copy = try Vault(at: home.place("backup"), settings: home.settings)
        #expect(code { try copy.openByDevice() } == .shareLost)
        try copy.unlock(phrase: phrase.phrase)
        #expect(home.store.state.withLock { $0.shares.count } == 1, "the vault's own share stays")
    }

    // MARK: substitution

    @Test func `another vault in the place of ours opens only after its user has said so`() throws {
        let home = try LevelHome()
        try home.opened().lock()
        let other = try LevelHome(home.store)
        let floor = home.store.state.withLock { $0.floor }
        try other.opened().lock()
        home.store.state.withLock { $0.floor = floor }
        let vault = try other.open()
        #expect(code { try vault.openByDevice() } == .levelLowered)
        #expect(!vault.isUnlocked)
        try vault.openByDevice(accepting: true)
        #expect(try home.store.state.withLock { $0.floor } == other.header().present)
    }

    @Test func `a slot for nobody beside a lock that asks opens nothing to the app`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        vault.lock()
        try home.rewrite { header, _ in header.policy.isLockEnabled = true }
        let contradictory = try home.open()
        #expect(code { try contradictory.openByDevice() } == .levelContradicted)
        #expect(!contradictory.isUnlocked && home.store.state.withLock { $0.shares.count } == 1)
    }

    @Test(arguments: [Way.device, .owner, .passcode])
    func `a contradicted header ends with a change of the level, and opens nothing before it`(_ way: Way) throws {
        let home = try LevelHome()
        let vault = try home.opened()
        try vault.put([1], "name")
        vault.lock()
        try home.rewrite { header, _ in header.policy.isLockEnabled = true }
        let found = try home.open()
        #expect(code { try found.openByDevice() } == .levelContradicted)
        #expect(code { _ = try found.get("name") } == .locked)
        #expect(code { try found.finishRekey() } == .locked)
        // A lock takes it away.
        found.lock()
        #expect(code { _ = try found.proveNobody() } == .locked)
        #expect(code { try found.openByDevice() } == .levelContradicted)
        switch way {
        case .device: try found.change(to: .device(), proving: found.proveNobody())
        case .owner: try found.change(to: .owner(), proving: found.proveNobody())
        case .passcode: try found.change(to: .secret("right"), proving: found.proveNobody())
        }
        #expect(!found.isUnlocked, "it is opened as its level wants it")
        #expect(code { _ = try found.proveNobody() } == .locked)
        let after = try home.open()
        #expect(way.open(after) == nil)
        #expect(try after.get("name") == [1])
        try after.finishRekey()
        let header = try home.header()
        #expect(!header.contradictsItself && header.policy.obstacle(at: header.level) == nil)
        #expect(Set(home.store.state.withLock { $0.shares.keys }) == Set(header.shareItems.map(\.name)))
    }

    @Test func `what goes wrong after the header was written is no refusal`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        try vault.put([1], "name")
        // The database cannot be opened anew from now on: a change says so with nothing changed, or is made.
        let bytes = try Data(contentsOf: URL(fileURLWithPath: home.path + "/header"))
        try FileManager.default.moveItem(atPath: home.path + "/vault.mdb", toPath: home.path + "/aside")
        let failed = code { try vault.change(to: .secret("right"), proving: vault.proveNobody()) }
        let after = try Data(contentsOf: URL(fileURLWithPath: home.path + "/header"))
        #expect((failed == nil) == (after != bytes), "\(String(describing: failed))")
        try FileManager.default.moveItem(atPath: home.path + "/aside", toPath: home.path + "/vault.mdb")
    }
}
