import AgentMessages
import Foundation
import HoldfastAgent
import KeyStores
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultLog
import VaultStorage

extension Scratch {
    /// Rules that take the owner's fingers and the account's passcode, for three days.
    func allowOwner() throws {
        let vault = try vault()
        let passcode = try secret("right")
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy in
            policy.fallback = .convenient
            policy.usesBiometrics = true
        }
    }
}

extension TestAgent {
    /// The outcome of a confirmation: `open`, or the code of an error.
    func confirm(
        _ step: OwnerStep, show: @escaping (OwnerGuidance) throws -> Void = { _ in },
        answer: @escaping (OwnerPrompt) throws -> String? = { _ in nil }
    ) throws -> String {
        let client = try client()
        let conversation = AgentClient.Conversation(
            show: { guidance in
                do { try show(guidance) } catch { Issue.record(error) }
            },
            ask: { prompt in
                guard let text = try answer(prompt) else { return nil }
                let bytes = Array(text.utf8)
                return try unsafe SecretBytes(copying: bytes.span.bytes)
            })
        do { _ = try client.confirm(step, conversation) } catch let error as VaultError { return "\(error.code)" }
        return "open"
    }

    func owner() throws -> OwnerStatus {
        let client = try client()
        return try client.owner()
    }
}

/// The owner's way in through the agent, with real parts.
@Suite(.serialized) struct OwnerTests {
    /// Rules of PAM in a folder, and a password of "anna".
    private static func passcodeRules(_ scratch: Scratch) throws -> [String: String] {
        let folder = scratch.path + "/pam"
        try AccountModule.writeRules(into: folder)
        return ["SUBJECT_PAM": folder, "SUBJECT_USER": "anna"]
    }

    private static let noAccounts: Comment =
        "libpam-wrapper is not installed: accounts' passcodes are not tested through the agent"

    @Test(.enabled(if: FingerprintSensor.isInstalled, "fprintd is not installed: fingerprints are not tested"))
    func aFingerOpensAfterThePasscodeAndForThreeDays() throws {
        let sensor = try FingerprintSensor()
        try sensor.enroll("anna")
        let scratch = try Scratch()
        try scratch.allowOwner()
        let agent = try TestAgent(scratch, parts: ["SUBJECT_BUS": sensor.bus.address])
        func touch(_ fingers: String...) throws -> String {
            var fingers = fingers
            return try agent.confirm(
                .biometrics,
                show: { guidance in
                    if guidance == .touch, !fingers.isEmpty { try sensor.touch("SCAN \(fingers.removeFirst())") }
                })
        }
        #expect(try touch("anna") == "passcodeNeeded", "without a passcode there is nothing to release")
        try agent.unlock()
        #expect(try touch("anna") == "open", "it is open already and nobody is asked")
        try agent.put([1, 2], "name")
        try agent.lock()
        #expect(try touch("anna") == "open")
        #expect(try agent.get("name") == [1, 2])
        #expect(try agent.status().isUnlocked)
        try agent.lock()
        #expect(try touch("berta", "anna") == "open")
        #expect(try agent.owner().nonMatches == 1)
        try agent.lock()
        try agent.advance(seconds: 71 * 3600)
        #expect(try touch("anna") == "open")
        try agent.lock()
        try agent.advance(seconds: 3600)
        #expect(try touch("anna") == "passcodeNeeded", "three days are over")
        try agent.unlock()
        try agent.lock()
        #expect(try touch("berta", "berta", "berta") == "notConfirmed")
        #expect(try scratch.vault().status().remainingAttempts == 5, "self-destruct is off: nothing is counted")
        #expect(try touch("berta", "berta") == "passcodeNeeded", "five samples did not match")
        #expect(try agent.owner().expiry == .nonMatches)
        #expect(try touch("anna") == "passcodeNeeded")
        try agent.unlock()
        try agent.lock()
        #expect(try touch("anna") == "open")
        try agent.lock()
        try sensor.enroll("mallory", as: "left-thumb")
        #expect(try touch("mallory") == "passcodeNeeded")
        #expect(try agent.owner().expiry == .enrollmentChanged)
        try agent.unlock()
        try agent.lock()
        // This sensor is asked for one finger, and which one is not ours to choose.
        #expect(try touch("anna", "mallory") == "open", "the new finger was taken note of by the passcode")
        let events = try scratch.vault().names(opened: "right")
        #expect(events.filter { $0 == "enrollmentChanged" }.count == 1)
        try agent.lock()
        try scratch.vault().change(from: "right", to: "other")
        #expect(try touch("anna") == "passcodeNeeded", "another passcode ends what the one before made")
        agent.kill()
        let next = try TestAgent(scratch, parts: ["SUBJECT_BUS": sensor.bus.address])
        #expect(try next.confirm(.biometrics) == "passcodeNeeded", "nothing of it is on the disk")
    }

    @Test(
        .enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: an owner's share in a TPM is not tested"),
        .enabled(if: AccountModule.path != nil, noAccounts))
    func anAccountsPasscodeOpensWithAShareInTheTPM() throws {
        let scratch = try Scratch()
        let rules = try OwnerTests.passcodeRules(scratch)
        let chip = try SoftwareTPM()
        try scratch.allowOwner()
        let agent = try TestAgent(scratch, parts: rules.merging(["SUBJECT_TPM": chip.location]) { $1 })
        try agent.unlock()
        try agent.lock()
        #expect(try agent.confirm(.devicePasscode, answer: { _ in "correct" }) == "open")
        try agent.lock()
        #expect(try agent.confirm(.devicePasscode, answer: { _ in "wrong" }) == "notConfirmed")
        #expect(try agent.confirm(.devicePasscode) == "cancelled")
        #expect(try !agent.status().isUnlocked)
        #expect(try agent.owner().nonMatches == 0)
        #expect(!FileManager.default.fileExists(atPath: scratch.home + "/shares"), "the share is under the TPM")
        // A client that goes away in the middle has turned away.
        do {
            let raw = try agent.raw()
            try raw.send(Request.owner(.confirm(.devicePasscode, idle: nil, timeout: nil)).head())
            _ = try raw.receive()
        }
        #expect(try agent.confirmOnceFree(.devicePasscode, "correct") == "open")
        try agent.lock()
        #expect(try chip.tool("tpm2_clear").status == 0)
        #expect(try agent.confirm(.devicePasscode, answer: { _ in "correct" }) == "passcodeNeeded")
        #expect(try agent.owner().expiry == .enrollmentChanged, "a key store that was reset")
    }

    @Test(
        .enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: an owner's share in a TPM is not tested"),
        .enabled(if: AccountModule.path != nil, noAccounts))
    func whatIsKeptOnTheDiskSurvivesARestartAndProvesPresenceOnly() throws {
        let scratch = try Scratch()
        let rules = try OwnerTests.passcodeRules(scratch)
        let chip = try SoftwareTPM()
        let location = TPMLocation(chip.location)
        var settings = scratch.settings
        settings.shareStores = { _ in ShareStores([TPMShares(at: location)], floors: []) }
        let vault = try Vault(at: scratch.home, settings: settings)
        let passcode = try secret("right")
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy throws(VaultError) in
            do throws(FallbackPolicyError) {
                policy.fallback = try FallbackPolicy([
                    .init(.devicePasscode, assurance: .presence),
                    .init(.appPasscode, assurance: .keyBound, when: [.failed, .expired, .unavailable]),
                ])
            } catch { throw VaultError(.invalidPolicy, "\(error)") }
            policy.collectionMinima = ["work": .keyBound]
        }
        try vault.keepOwner(passcode: passcode, spending: vault.burnAttempt(), enrollment: nil)
        #expect(vault.keepsOwner)
        let parts = rules.merging(["SUBJECT_TPM": chip.location]) { $1 }
        for _ in 0..<2 {
            let agent = try TestAgent(scratch, parts: parts)
            #expect(try agent.owner().expiry == nil)
            #expect(try agent.confirm(.devicePasscode, answer: { _ in "wrong" }) == "notConfirmed")
            #expect(try agent.confirm(.devicePasscode, answer: { _ in "correct" }) == "open")
            try agent.put([3], "name", replacing: true)
            #expect(errorCode { try agent.put([4], "name", "work") } == .assuranceTooLow)
            agent.kill()
        }
        // On another machine the chip's half is missing.
        let elsewhere = try TestAgent(scratch, parts: rules)
        #expect(try elsewhere.confirm(.devicePasscode, answer: { _ in "correct" }) == "passcodeNeeded")
        elsewhere.kill()
        #expect(
            errorCode { try vault.dropKeptOwner(passcode: passcode, spending: vault.burnAttempt()) } == .lastWayIn)
        let old = try Data(contentsOf: URL(fileURLWithPath: scratch.home + "/header"))
        try vault.dropKeptOwner(passcode: passcode, spending: vault.burnAttempt(), insisting: true)
        #expect(!vault.keepsOwner)
        try vault.finishRekey()
        try vault.put(passcode, for: "later")
        vault.lock()
        let new = try Data(contentsOf: URL(fileURLWithPath: scratch.home + "/header"))
        try old.write(to: URL(fileURLWithPath: scratch.home + "/header"))
        let attacked = try TestAgent(scratch, parts: parts)
        // The chip's index is gone, so the header of then opens nothing, and its keys read nothing of now.
        #expect((try? attacked.confirm(.devicePasscode, answer: { _ in "correct" })) != "open")
        #expect(errorCode { _ = try attacked.get("later") } != nil)
        attacked.kill()
        try new.write(to: URL(fileURLWithPath: scratch.home + "/header"))
        let after = try TestAgent(scratch, parts: parts)
        #expect(try after.confirm(.devicePasscode, answer: { _ in "correct" }) == "passcodeNeeded")
    }

    @Test(.enabled(if: AccountModule.path != nil, noAccounts))
    func rulesThatNameNoSuchStepTakeNone() throws {
        let scratch = try Scratch()
        let rules = try OwnerTests.passcodeRules(scratch)
        let agent = try TestAgent(scratch, parts: rules)
        try agent.unlock()
        try agent.lock()
        for step in OwnerStep.allCases {
            #expect(try agent.confirm(step, answer: { _ in "correct" }) == "passcodeNeeded")
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.home + "/shares"))
    }

    @Test(.enabled(if: PrivateBus.hasMocks, "python3-dbusmock is not installed: lock and sleep are not tested"))
    func aSessionThatIsLockedAndAMachineThatSleepsLock() throws {
        let bus = try PrivateBus()
        try bus.mock("logind", name: "org.freedesktop.login1")
        let scratch = try Scratch()
        let agent = try TestAgent(scratch, parts: ["SUBJECT_BUS": bus.address])
        func emit(_ member: String, _ signature: String = "", _ arguments: String = "") throws {
            let interface = "org.freedesktop.login1." + (member == "Lock" ? "Session" : "Manager")
            try bus.emit(
                "org.freedesktop.login1", path: "/org/freedesktop/login1", interface: interface, member: member,
                signature: signature, arguments)
        }
        func waitForLock() throws {
            try bus.wait("the lock") { (try? agent.status().isUnlocked) == false }
        }
        try agent.unlock()
        try emit("Lock")
        try waitForLock()
        try agent.unlock()
        try emit("PrepareForSleep", "b", "True")
        try waitForLock()
        #expect(errorCode { try agent.unlock() } == .locked, "a machine that goes to sleep opens nothing")
        try emit("PrepareForSleep", "b", "False")
        try bus.wait("waking up") { (try? agent.unlock()) != nil }
        #expect(try agent.status().isUnlocked)
        agent.kill()
        let vault = try scratch.vault()
        let reasons = try vault.lockReasons(opened: "right")
        #expect(reasons == ["system", "suspend"])
    }
}

extension TestAgent {
    /// A confirmation that waits until the one of a client that went away has ended.
    fileprivate func confirmOnceFree(_ step: OwnerStep, _ answer: String) throws -> String {
        while true {  // the suite's time limit ends a hang
            let came = try confirm(step, answer: { _ in answer })
            if came != "busy" { return came }
            usleep(2000)
        }
    }
}

extension Vault {
    fileprivate func change(from old: String, to new: String) throws {
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        try unsafe changePasscode(
            from: SecretBytes(copying: old.span.bytes), spending: burnAttempt(),
            to: SecretBytes(copying: new.span.bytes))
    }

    private func events(opened passcode: String) throws -> [SecurityEvent] {
        let passcode = try secret(passcode)
        try unlock(passcode: passcode, spending: burnAttempt())
        defer { lock() }
        return try securityLog().entries.map(\.event)
    }

    fileprivate func names(opened passcode: String) throws -> [String] {
        try events(opened: passcode).map(\.name)
    }

    fileprivate func lockReasons(opened passcode: String) throws -> [String] {
        try events(opened: passcode).compactMap { event in
            guard event.name == "locked", case .text(let reason)? = event["reason"] else { return nil }
            return reason
        }
    }
}
