import Foundation
import RealParts
import Testing

/// The command against a software TPM of its own.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: holdfast enroll tpm is not tested"))
struct EnrollTests {
    let chip: SoftwareTPM
    let sandbox: Sandbox

    init() throws {
        chip = try SoftwareTPM()
        sandbox = try Sandbox(prepared: true)
    }

    var variables: [String: String] { ["HOLDFAST_TPM": chip.location] }

    func enroll(phrase: String) throws -> Sandbox.Result {
        try sandbox.run(
            "enroll", "tpm", "--phrase-fd", "4", passcode: Prepared.passcode,
            descriptors: [4: sandbox.lines(phrase)], environment: variables)
    }

    @Test func aVaultUnderTheTPMOpensOnlyThereAndThePhraseEverywhere() throws {
        let phrase = try Prepared.shared().phrase
        #expect(try enroll(phrase: phrase).code == 0)
        let here = try sandbox.run("get", "greeting", passcode: Prepared.passcode, environment: variables)
        #expect(here.code == 0 && here.text == Prepared.greeting, "\(here.errors)")
        let status = try sandbox.run("status", "--json", environment: variables).json()
        #expect(status["hasHardwareShare"] as? Bool == true)
        let slots = try sandbox.run("slots", "list", "--json").json()["slots"] as? [[String: Any]]
        #expect(slots?.map { $0["assurance"] as? String } == ["hardwareLimited", "keyBound"])

        let elsewhere = try sandbox.run("list", "--json", passcode: Prepared.passcode)
        #expect(elsewhere.code == 1)
        #expect(try elsewhere.jsonError()["code"] as? String == "hardwareUnavailable")
        let other = try SoftwareTPM()
        let foreign = try sandbox.run(
            "list", "--json", passcode: Prepared.passcode, environment: ["HOLDFAST_TPM": other.location])
        #expect(try foreign.jsonError()["code"] as? String == "rollbackSuspected")
        #expect(try sandbox.run("status", "--json").json()["remainingAttempts"] as? Int == 5, "nothing was counted")
        let byPhrase = try sandbox.run(
            "get", "greeting", "--phrase-fd", "4", descriptors: [4: sandbox.lines(phrase)])
        #expect(byPhrase.code == 0 && byPhrase.text == Prepared.greeting)

        let removed = try sandbox.run("slots", "remove", "tpm", passcode: Prepared.passcode, environment: variables)
        #expect(removed.code == 0, "\(removed.errors)")
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).code == 0)
    }

    @Test func whatIsMissingOrWrongChangesNothing() throws {
        let before = try sandbox.bytes("home/header")
        let phrase = try Prepared.shared().phrase
        let without = try sandbox.run(
            "enroll", "tpm", "--phrase-fd", "4", passcode: Prepared.passcode,
            descriptors: [4: sandbox.lines(phrase)], environment: ["HOLDFAST_TPM": "swtpm:path=/nonexistent/socket"])
        #expect(without.code == 1)
        #expect(without.errors.contains("TPM"))
        let words = Array(repeating: "abandon", count: 23) + ["art"]
        let wrong = try enroll(phrase: words.joined(separator: " "))
        #expect(wrong.code == 3)
        let none = try sandbox.run("slots", "remove", "tpm", passcode: Prepared.passcode, environment: variables)
        #expect(none.code == 1)
        #expect(none.errors.contains("not under a TPM"))
        #expect(try sandbox.bytes("home/header") == before)
    }

    @Test(
        .enabled(
            if: !FileManager.default.fileExists(atPath: "/etc/pam.d/holdfast"),
            "this machine has rules of PAM for Holdfast: enrolling without them is not tested"))
    func whatIsNotThereIsNotPutIntoTheRules() throws {
        let before = try sandbox.bytes("home/header")
        let device = try sandbox.run("enroll", "device", passcode: Prepared.passcode)
        #expect(device.code == 1)
        #expect(device.errors.contains("Nothing was changed"), "\(device.errors)")
        for slot in ["fingerprint", "device"] {
            let none = try sandbox.run("slots", "remove", slot, passcode: Prepared.passcode)
            #expect(none.code == 1 && none.errors.contains("nothing was changed"), "\(none.errors)")
        }
        #expect(try sandbox.bytes("home/header") == before)
    }

    @Test func explainSaysWhyTheOwnerIsNotAskedNow() throws {
        let set = try sandbox.run(
            "lock-policy", "set", "fallback=convenient", "useFaceID=on", passcode: Prepared.passcode)
        #expect(set.code == 0, "\(set.errors)")
        let words = try sandbox.run("explain")
        #expect(words.code == 0 && words.text.contains("Unlocking asks for the passcode."), "\(words.text)")
        #expect(words.text.contains("Not biometrics: "))
        let json = try sandbox.run("explain", "--json").json()
        #expect((json["action"] as? [String: String])?["step"] == "appPasscode")
    }
}
