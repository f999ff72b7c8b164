import Foundation
import RealParts
import Testing

/// `enroll pin` and what it brings, against a software TPM: by descriptor, on a terminal, and through the agent.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: holdfast enroll pin is not tested"))
struct PINCommandTests {
    let chip: SoftwareTPM
    let sandbox: AgentSandbox

    init() throws {
        chip = try SoftwareTPM()
        sandbox = try AgentSandbox()
    }

    private var variables: [String: String] { ["HOLDFAST_TPM": chip.location] }

    @discardableResult
    private func enroll(_ pin: String = "2580", passcode: String = Prepared.passcode) throws -> Sandbox.Result {
        try sandbox.run(
            "enroll", "pin", "--pin-fd=4", passcode: passcode, descriptors: [4: sandbox.lines(pin)],
            environment: variables)
    }

    private func get(pin: String, _ more: [String: String]? = nil) throws -> Sandbox.Result {
        try sandbox.run(
            "get", "greeting", "--pin-fd=4", descriptors: [4: sandbox.lines(pin)], environment: more ?? variables)
    }

    @Test func aPINOpensTheVaultHereAndNothingElse() throws {
        let enrolled = try enroll()
        #expect(enrolled.code == 0 && enrolled.errors.isEmpty, "\(enrolled.errors)")
        #expect(try get(pin: "2580").text == Prepared.greeting)
        let wrong = try get(pin: "9999")
        #expect(wrong.code == 3 && wrong.errors.contains("wrong PIN; 4 attempts remain"), "\(wrong.errors)")
        let elsewhere = try get(pin: "2580", [:])
        #expect(elsewhere.code == 1 && elsewhere.errors.contains("use the passcode"), "\(elsewhere.errors)")
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).text == Prepared.greeting)

        let slots = try sandbox.run("slots", "list", environment: variables)
        #expect(
            slots.text.split(separator: "\n").last?.hasPrefix("PIN under the TPM  hardware-limited  counted") ?? false,
            "\(slots.text)")
        #expect(slots.text.hasSuffix("enroll remove pin\n"))
        #expect(try sandbox.run("status", "--json").json()["hasPIN"] as? Bool == true)
        #expect(try sandbox.run("status").text.contains("PIN under the TPM"))
        #expect(try sandbox.run("status").text.contains("asks for the passcode, the PIN or the recovery phrase\n"))
        let explained = try sandbox.run("explain", environment: variables).text
        #expect(
            explained.contains(
                "The PIN is asked for instead, and counted by the TPM; press Enter at its prompt to use the passcode"),
            "\(explained)")
        #expect(try !sandbox.run("explain").text.contains("The PIN"), "no chip, no PIN")
        let log = try sandbox.run("log", passcode: Prepared.passcode).text
        #expect(log.contains("a PIN was enrolled in the TPM") && log.contains("unlocked with the PIN"))

        let removed = try sandbox.run("slots", "remove", "pin", passcode: Prepared.passcode, environment: variables)
        #expect(removed.code == 0, "\(removed.errors)")
        #expect(try get(pin: "2580").code == 1)
        let again = try sandbox.run("slots", "remove", "pin", passcode: Prepared.passcode, environment: variables)
        #expect(again.code == 1 && again.errors.contains("this vault has no PIN; nothing was changed"))
    }

    @Test func whatIsWrongOrMissingChangesNothing() throws {
        let before = try sandbox.bytes("home/header")
        for pin in ["123", "0000", "4321"] {
            let easy = try enroll(pin)
            #expect(easy.code == 1 && easy.errors.contains("PIN"), "\(easy.errors)")
        }
        #expect(try enroll(passcode: "wrong").code == 3)
        let without = try sandbox.run(
            "enroll", "pin", "--pin-fd=4", passcode: Prepared.passcode, descriptors: [4: sandbox.lines("2580")],
            environment: ["HOLDFAST_TPM": "swtpm:path=/nonexistent/socket"])
        #expect(without.code == 1 && without.errors.contains("TPM"), "\(without.errors)")
        let nowhere = try sandbox.run("enroll", "pin", passcode: Prepared.passcode, environment: variables)
        #expect(nowhere.code == 2 && nowhere.errors.contains("--pin-fd"), "\(nowhere.errors)")
        let both = try sandbox.run(
            "get", "greeting", "--pin-fd=4", passcode: Prepared.passcode, descriptors: [4: sandbox.lines("2580")])
        #expect(both.code == 2 && both.errors.contains("use only one of"), "\(both.errors)")
        let wiped = try sandbox.run("wipe", "--pin-fd=4", "--yes", descriptors: [4: sandbox.lines("2580")])
        #expect(wiped.code == 2, "a PIN destroys nothing: \(wiped.errors)")
        #expect(try sandbox.bytes("home/header") == before)
    }

    @Test func onATerminalThePINIsAskedForAndAnEmptyOneMeansThePasscode() throws {
        let terminal = try PseudoTerminal()
        let enrolling = try sandbox.sandbox.start("enroll", "pin", on: terminal, environment: variables)
        try terminal.wait(for: "Passcode: ")
        terminal.type(Prepared.passcode + "\n")
        try terminal.wait(for: "New PIN: ")
        #expect(!terminal.echoes)
        terminal.type("2580\n")
        try terminal.wait(for: "Repeat PIN: ")
        terminal.type("2580\n")
        #expect(enrolling.wait() == 0)
        #expect(terminal.rest().contains("After 5 wrong PINs, it no longer works"))

        let byPIN = try sandbox.sandbox.start("get", "greeting", on: terminal, environment: variables)
        try terminal.wait(for: "PIN (press Enter to use the passcode): ")
        #expect(!terminal.echoes)
        terminal.type("2580\n")
        #expect(byPIN.wait() == 0)
        #expect(terminal.rest().contains(Prepared.greeting.prefix { $0 != "\n" }))

        let byPasscode = try sandbox.sandbox.start("get", "greeting", on: terminal, environment: variables)
        try terminal.wait(for: "PIN (press Enter to use the passcode): ")
        terminal.type("\n")
        try terminal.wait(for: "Passcode: ")
        terminal.type(Prepared.passcode + "\n")
        #expect(byPasscode.wait() == 0)
        #expect(terminal.rest().contains(Prepared.greeting.prefix { $0 != "\n" }))

        // A chip that cannot be asked: said, and the passcode asked for.
        let silent = ["HOLDFAST_TPM": "swtpm:path=/nonexistent/socket"]
        let without = try sandbox.sandbox.start("get", "greeting", on: terminal, environment: silent)
        try terminal.wait(for: "PIN (press Enter to use the passcode): ")
        terminal.type("2580\n")
        try terminal.wait(for: "Passcode: ")
        terminal.type(Prepared.passcode + "\n")
        #expect(without.wait() == 0)
        _ = terminal.rest()
    }

    /// The chip's count is its own: who typed the passcode meanwhile is told before the PIN's last try.
    @Test func onATerminalTheChipsCountIsToldBefore() throws {
        try enroll()
        for pin in ["9990", "9991"] { #expect(try get(pin: pin).code == 3) }
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).code == 0)
        let terminal = try PseudoTerminal()
        let warned = try sandbox.sandbox.start("get", "greeting", on: terminal, environment: variables)
        let screen = try terminal.wait(for: "PIN (press Enter to use the passcode): ")
        #expect(screen.contains("3 more wrong PINs until the TPM refuses it; then only the passcode"), "\(screen)")
        terminal.type("2580\n")
        #expect(warned.wait() == 0)
        _ = terminal.rest()

        try chip.tool("tpm2_clear", "-c", "p")
        let over = try sandbox.sandbox.start("get", "greeting", on: terminal, environment: variables)
        let said = try terminal.wait(for: "Passcode: ")
        #expect(said.contains("the PIN no longer works on this") && !said.contains("PIN (press"), "\(said)")
        terminal.type(Prepared.passcode + "\n")
        #expect(over.wait() == 0)
        #expect(terminal.rest().contains(Prepared.greeting.prefix { $0 != "\n" }))
    }

    @Test func theAgentTakesItToo() throws {
        try enroll()
        let wrong = try sandbox.run(
            "unlock", "--pin-fd=4", descriptors: [4: sandbox.lines("9999")], environment: variables)
        #expect(wrong.code == 3 && wrong.errors.contains("wrong PIN"), "\(wrong.errors)")
        let unlocked = try sandbox.run(
            "unlock", "--pin-fd=4", descriptors: [4: sandbox.lines("2580")], environment: variables)
        #expect(unlocked.code == 0, "\(unlocked.errors)")
        #expect(try sandbox.run("get", "greeting", environment: variables).text == Prepared.greeting)
        #expect(try sandbox.run("lock", "--shut-down").code == 0)
    }

    /// What the PIN held up is looked at anew when it goes; and a chip that the TPM did not respond is told of.
    @Test func whatGoesWithThePINIsSaid() throws {
        try enroll()
        let minimum = try sandbox.run(
            "lock-policy", "set", "minimum.bank=hardwareLimited", passcode: Prepared.passcode, environment: variables)
        #expect(minimum.code == 0 && !minimum.errors.contains("bank"), "\(minimum.errors)")
        let limit = try sandbox.run(
            "lock-policy", "set", "attemptLimit=7", passcode: Prepared.passcode, environment: variables)
        #expect(limit.code == 0 && limit.errors.contains("bank"), "\(limit.errors)")
        try enroll()
        let silent = ["HOLDFAST_TPM": "swtpm:path=/nonexistent/socket"]
        let removed = try sandbox.run("slots", "remove", "pin", passcode: Prepared.passcode, environment: silent)
        #expect(removed.code == 0 && removed.errors.contains("the TPM did not respond"), "\(removed.errors)")
        #expect(try get(pin: "2580").code == 1)
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode, environment: variables).code == 0)
        #expect(try chip.tool("tpm2_getcap", "handles-nv-index").output.isEmpty, "the next right passcode sees to it")
    }

    @Test func whatEndsAPINSaysSo() throws {
        try enroll()
        let kept = try sandbox.run(
            "lock-policy", "set", "lockTiming=never", passcode: Prepared.passcode, environment: variables)
        #expect(kept.code == 0 && !kept.errors.contains("PIN"), "\(kept.errors)")
        #expect(try get(pin: "2580").code == 0)
        let limit = try sandbox.run(
            "lock-policy", "set", "attemptLimit=7", passcode: Prepared.passcode, environment: variables)
        #expect(limit.code == 0 && limit.errors.contains("the PIN is removed"), "\(limit.errors)")
        #expect(try get(pin: "2580").code == 1)
        try enroll()
        let rekeyed = try sandbox.run(
            "passcode", "change", "--rekey", "--passcode-fd=3", "--phrase-fd=4",
            descriptors: [
                3: sandbox.sandbox.lines(Prepared.passcode, Prepared.passcode),
                4: sandbox.lines(Prepared.shared().phrase),
            ], environment: variables)
        #expect(rekeyed.code == 0 && rekeyed.errors.contains("the PIN was removed"), "\(rekeyed.errors)")
        #expect(try get(pin: "2580").code == 1)
        try enroll()
        let recovered = try sandbox.run(
            "recover", "--phrase-fd=4", passcode: "another", descriptors: [4: sandbox.lines(Prepared.shared().phrase)],
            environment: variables)
        #expect(recovered.code == 0 && recovered.errors.contains("the PIN was removed"), "\(recovered.errors)")
        #expect(try sandbox.run("status", "--json").json()["hasPIN"] as? Bool == false)
    }
}
