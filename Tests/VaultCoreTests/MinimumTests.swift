import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultStorage

/// Collections that ask for more than an unlock proved.
@Suite struct MinimumTests {
    private let home: TestHome

    init() throws { home = try TestHome() }

    /// A vault with a record in each of two collections and a stream in one, then a minimum on `shut`.
    private func vault(minimum: Assurance, settings: VaultSettings? = nil) throws -> Vault {
        let secret = try secret("right")
        _ = try Vault.create(at: home.path, passcode: secret, settings: settings ?? home.settings)
        let vault = try Vault(at: home.path, settings: settings ?? home.settings)
        try vault.unlock("right")
        try vault.put([1], "a", "shut")
        try vault.put([2], "a", "open")
        let passcode = try TestSupport.secret("right")
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) {
            $0.collectionMinima = ["shut": minimum, "free": .none]
        }
        return vault
    }

    /// Every call that could reach a record of the collection.
    private func calls(_ vault: Vault, _ collection: String) -> [(String, () throws -> Void)] {
        [
            ("value", { _ = try vault.get("a", collection) }),
            ("read", { _ = try vault.readAll("a", collection) }),
            ("contains", { _ = try vault.contains("a", in: collection) }),
            ("missing", { _ = try vault.contains("none", in: collection) }),
            ("list", { _ = try vault.records(in: collection) }),
            ("put", { try vault.put([3], "b", collection) }),
            ("replace", { try vault.put([3], "a", collection, replacing: true) }),
            ("too large", { try vault.put([UInt8](repeating: 0, count: 10), "c", collection) }),
            (
                "stream",
                {
                    try vault.put("d", in: collection, replacing: true) { _ in
                        Issue.record("the source was asked")
                        return 0
                    }
                }
            ),
            (
                "batch put",
                { try vault.write { session in try session.put(secret("4"), "e", collection) } }
            ),
            ("batch delete", { try vault.write { session in try session.delete("a", in: collection) } }),
            ("delete", { try vault.delete("a", in: collection) }),
        ]
    }

    @Test(arguments: [Assurance.hardwareBound, .hardwareLimited])
    func nothingReachesACollectionThatAsksForMore(_ minimum: Assurance) throws {
        let vault = try vault(minimum: minimum)
        #expect(vault.assurance == .keyBound && vault.collectionsOutOfReach == ["shut": minimum])
        let before = try home.bytes("vault.mdb")
        for (name, call) in calls(vault, "shut") {
            let error = #expect(throws: VaultError.self, "\(name)") { try call() }
            #expect(error?.code == .assuranceTooLow && error?.neededAssurance == minimum, "\(name)")
            #expect(error?.reason.contains(minimum.words) == true && error?.reason.contains("key-bound") == true)
        }
        #expect(try home.bytes("vault.mdb") == before)
        #expect(try vault.records().map(\.collection) == ["open"])
        #expect(try vault.get("a", "open") == [2])
        #expect(try vault.verify().isIntact)
    }

    @Test(arguments: [Assurance.none, .presence, .keyBound]) func whatIsProvedIsEnough(_ minimum: Assurance) throws {
        let vault = try vault(minimum: minimum)
        #expect(vault.collectionsOutOfReach.isEmpty)
        #expect(try vault.get("a", "shut") == [1])
        #expect(try vault.records().count == 2)
    }

    @Test func ofTwoMinimaTheStricterHolds() throws {
        var settings = home.settings
        settings.minima = ["shut": .keyBound, "open": .hardwareBound, "e\u{301}": .hardwareLimited]
        let vault = try vault(minimum: .hardwareLimited)
        let strict = try Vault(at: home.path, settings: settings)
        try strict.unlock("right")
        #expect(
            strict.collectionsOutOfReach == ["shut": .hardwareLimited, "open": .hardwareBound, "é": .hardwareLimited])
        #expect(errorCode { _ = try strict.get("a", "open") } == .assuranceTooLow)
        #expect(errorCode { _ = try strict.get("a", "é") } == .assuranceTooLow, "the same text to Unicode")
        #expect(try strict.records().isEmpty)
        #expect(try vault.get("a", "open") == [2], "the other one has no such rule")
        strict.lock()
        #expect(strict.assurance == nil && strict.collectionsOutOfReach.isEmpty)
        #expect(errorCode { _ = try strict.get("a", "open") } == .locked)
    }

    @Test func hardwareThatCountsReachesMoreThanThePhrase() throws {
        var settings = home.settings
        settings.tier = CountingChip()
        let secret = try secret("right")
        let box = RecoveryPhraseBox(try Vault.create(at: home.path, passcode: secret, settings: settings))
        let vault = try Vault(at: home.path, settings: settings)
        let passcode = try TestSupport.secret("right")
        try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: box.phrase)
        try vault.unlock("right")
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) {
            $0.collectionMinima = ["shut": .hardwareLimited]
        }
        #expect(vault.assurance == .hardwareLimited)
        try vault.put([1], "a", "shut")
        vault.lock()
        try vault.unlock(phrase: box.phrase)
        #expect(vault.assurance == .keyBound)
        #expect(errorCode { _ = try vault.get("a", "shut") } == .assuranceTooLow)
        vault.lock()
        try vault.unlock("right")
        #expect(try vault.get("a", "shut") == [1])
    }

    /// What moves everything must not stop at a collection that its caller could not read.
    @Test func aRekeyMovesWhatCannotBeRead() throws {
        let vault = try vault(minimum: .hardwareBound)
        let old = try secret("right")
        let new = try secret("next")
        let phrase = try Vault.newRecoveryPhrase()
        try vault.rekey(
            passcode: old, spending: vault.burnAttempt(), newPasscode: new, phrase: phrase, isNewPhrase: true)
        try vault.finishRekey()
        #expect(vault.collectionsOutOfReach == ["shut": .hardwareBound])
        let passcode = try secret("next")
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.collectionMinima = [:] }
        #expect(try vault.get("a", "shut") == [1] && vault.get("a", "open") == [2])
    }

    @Test func aBatchThatIsRefusedOnceGoesOn() throws {
        let vault = try vault(minimum: .hardwareBound)
        try vault.write { session in
            #expect(throws: VaultError.self) { try session.delete("a", in: "shut") }
            try session.put(secret("9"), "b", "open")
        }
        #expect(try vault.get("b", "open") == Array("9".utf8))
    }
}

extension WriteSession {
    fileprivate mutating func put(_ value: borrowing SecretBytes, _ name: String, _ collection: String) throws {
        try value.withBytes { try put($0, for: name, in: collection) }
    }
}
