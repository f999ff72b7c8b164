import Cryptography
import Foundation
import RealParts
import SecretMemory
import Testing
import VaultFormat

/// `status`, `doctor`, `list` and their like on a folder that somebody left, on a machine whose TPM holds a PIN's share
/// of the vault that the folder is made after; and the end of a backup.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: strange folders are not looked at"))
struct StrangeFolderCommandTests {
    private let chip: SoftwareTPM
    private let sandbox: AgentSandbox
    private let variables: [String: String]
    private var strange: String { sandbox.path + "/strange" }

    init() throws {
        chip = try SoftwareTPM()
        sandbox = try AgentSandbox()
        variables = ["HOLDFAST_TPM": chip.location]
        let enrolled = try sandbox.run(
            "enroll", "pin", "--pin-fd=4", passcode: Prepared.passcode, descriptors: [4: sandbox.lines("2580")],
            environment: variables)
        try #require(enrolled.code == 0, "\(enrolled.errors)")
        try #require(sandbox.run("backup", strange, environment: variables).code == 0)
    }

    private func expectThePINOpens() throws {
        let got = try sandbox.run(
            "get", "greeting", "--pin-fd=4", descriptors: [4: sandbox.lines("2580")], environment: variables)
        #expect(got.text == Prepared.greeting, "\(got.errors)")
    }

    private func plant(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(strange)/\(name)"))
    }

    /// What a wipe that was cut off would have left, with a wipe key that the folder's maker knows.
    private func plantWipe() throws {
        let copy = Array(try sandbox.bytes("strange/header")[..<Header.copySize])
        let header = try Header(parsing: copy) { BLAKE3.hash($0).bytes }
        let secret = try unsafe SecretBytes(copying: [UInt8](repeating: 9, count: 32).span.bytes)
        var file = Array("HFWIPKEY".utf8) + [1, 0, 0, 0] + header.vault.bytes + [0, 0, 0, 0]
        file += [UInt8](repeating: 9, count: 32) + [UInt8](repeating: 0, count: 32)
        try plant(unsafe file + BLAKE3.hash(file.span.bytes).bytes, "wipe.key")
        let key = try unsafe HKDFSHA256.derive(
            secret, salt: header.vault.bytes.span.bytes, info: "holdfast/1/wipe-mark", count: 32)
        var mark = WipeMark(vault: header.vault, cause: .owner, begun: 1)
        mark.tag = try unsafe HMACSHA256.authenticate(mark.authenticatedBytes.span.bytes, key: key).bytes
        let bytes = mark.encoded { BLAKE3.hash($0).bytes }
        try plant(bytes + bytes, "header")
        // What the header of the backup names: the PIN's share.
        let slot = try #require(header.pinSlot)
        let size = Int(slot.kindData[1]) | Int(slot.kindData[2]) << 8
        var note = Array("HFPEND05".utf8)
        note += [1] + counted(slot.hardwareName) + counted(Array(slot.kindData[3..<3 + size])) + [7, 0, 0]
        try plant(note, "hardware.pending")
    }

    private func counted(_ part: [UInt8]) -> [UInt8] { [UInt8(part.count & 0xff), UInt8(part.count >> 8)] + part }

    @Test(arguments: [["status"], ["doctor"], ["list"], ["log"], ["unlock"], ["wipe", "--dry-run"]])
    func lookingTakesNothingFromTheChip(words: [String]) throws {
        try plantWipe()
        let indices = try chip.tool("tpm2_getcap", "handles-nv-index").output
        for _ in 0..<2 {
            _ = try sandbox.run(
                raw: (words + ["--home", strange]).map { Array($0.utf8) }, environment: variables)
        }
        #expect(try chip.tool("tpm2_getcap", "handles-nv-index").output == indices)
        try expectThePINOpens()
    }

    @Test func theEndOfABackupIsNotTheVaults() throws {
        let plan = try sandbox.run("wipe", "--dry-run", "--home", strange, environment: variables)
        #expect(plan.text.contains("was made for another folder and stays"), "\(plan.text)")
        let wiped = try sandbox.run(
            "wipe", "--yes", "--home", strange, passcode: Prepared.passcode, environment: variables)
        #expect(wiped.code == 0 && wiped.errors.contains("stays"), "\(wiped.errors)")
        try expectThePINOpens()
        let own = try sandbox.run("wipe", "--dry-run", environment: variables)
        #expect(own.text.contains("Backups and other copies use it too"), "\(own.text)")
        let end = try sandbox.run("wipe", "--yes", passcode: Prepared.passcode, environment: variables)
        #expect(end.code == 0 && end.errors.contains("Backups and other copies use it too"), "\(end.errors)")
        #expect(try chip.tool("tpm2_getcap", "handles-nv-index").output.isEmpty)
    }

    @Test func aNoteOfSomebodyElseIsPutAsideAndSaid() throws {
        try Data("HFPEND05 nonsense".utf8).write(to: URL(fileURLWithPath: sandbox.home + "/hardware.pending"))
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode, environment: variables).code == 0)
        let status = try sandbox.run("status", environment: variables)
        #expect(status.text.contains("hardware.pending.refused"), "\(status.text)")
        try expectThePINOpens()
    }

    /// Another `wipe.key` in the vault's own folder: nothing is changed until it was said what the folder is.
    @Test(arguments: ["exchanged", "taken"]) func aPlantedKeyIsAskedAbout(_ how: String) throws {
        let path = sandbox.home + "/wipe.key"
        try FileManager.default.removeItem(atPath: path)
        if how == "exchanged" { try FileManager.default.copyItem(atPath: strange + "/wipe.key", toPath: path) }
        let header = try Data(contentsOf: URL(fileURLWithPath: sandbox.home + "/header"))
        func run(_ words: String...) throws -> Sandbox.Result {
            try sandbox.run(raw: words.map { Array($0.utf8) }, passcode: Prepared.passcode, environment: variables)
        }
        for words in [["slots", "remove", "pin"], ["passcode", "change"], ["lock-policy", "set", "attemptLimit=3"]] {
            let refused = try sandbox.run(
                raw: words.map { Array($0.utf8) }, passcode: Prepared.passcode, environment: variables)
            #expect(
                refused.code == 1 && refused.errors.contains("holdfast hardware claim"), "\(words): \(refused.errors)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: sandbox.home + "/header")) == header)
        let status = try sandbox.run("status", environment: variables)
        #expect(status.text.contains("holdfast hardware claim"), "\(status.errors)")
        let got = try run("get", "greeting")
        #expect(got.text == Prepared.greeting && got.errors.contains("WARNING"), "\(got.errors)")
        let claimed = try run("hardware", "claim")
        #expect(claimed.code == 0, "\(claimed.errors)")
        #expect(try run("slots", "remove", "pin").code == 0)
        #expect(try chip.tool("tpm2_getcap", "handles-nv-index").output.isEmpty)
    }

    @Test func aBackupIsMadeAVaultOfItsOwn() throws {
        let refused = try sandbox.run(
            "slots", "remove", "pin", "--home", strange, passcode: Prepared.passcode, environment: variables)
        #expect(refused.code == 1 && refused.errors.contains("holdfast hardware leave"), "\(refused.errors)")
        let left = try sandbox.run(
            "hardware", "leave", "--yes", "--home", strange, passcode: Prepared.passcode, environment: variables)
        #expect(left.code == 0 && left.errors.contains("the PIN was removed here"), "\(left.errors)")
        try expectThePINOpens()
        let enrolled = try sandbox.run(
            "enroll", "pin", "--pin-fd=4", "--home", strange, passcode: Prepared.passcode,
            descriptors: [4: sandbox.lines("3691")], environment: variables)
        #expect(enrolled.code == 0, "\(enrolled.errors)")
        try expectThePINOpens()
    }
}
