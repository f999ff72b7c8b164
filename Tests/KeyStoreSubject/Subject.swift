import Cryptography
@testable import DeviceOwner
import SystemCalls
import KeyStores
import SecretMemory
import VaultCore
import VaultHeader
import VaultFormat

/// Asks the keyring that the environment names: a process keeps the bus that it connected to first.
///
/// Or puts the passcode `right` of a vault under the TPM that SUBJECT_TPM names, changes it there, takes it out; gives
/// it the PIN `2580` under that TPM, changes a rule, takes the PIN away.
///
/// Or keeps a revocable share of the vault 0101... in that keyring, or in files of the folder $SUBJECT_SHARES.
///
/// Usage: KeyStoreSubject shares probe | shares make NONCE BYTE | shares read ITEM | shares revoke ITEM |
/// shares floor | shares raise LEVEL | shares forget | shares hold BYTE | CHANGE HOME PHRASE, with CHANGE one of
/// enroll, change, remove, enrollPIN, rules, removePIN. Standard output: the outcome, or the code of an error.
@main enum Subject {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            switch words.first {
            case "shares": return say(try Shares.run(Array(words.dropFirst())))
            case "enroll", "change", "remove", "enrollPIN", "rules", "removePIN": try Hardware.run(words)
            default: exit(2)
            }
            say("done")
        } catch let error as KeyStoreError {
            say("\(error.code): \(error)")
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    private static func say(_ text: String) { print(text) }
}

/// Revocable shares; the outcome as one line.
private enum Shares {
    static func run(_ words: [String]) throws -> String {
        let folder = unsafe getenv("SUBJECT_SHARES").map { unsafe String(cString: $0) }
        let store: any ShareStore = folder.map { FileShares(in: $0) } ?? SecretServiceShares()
        unsafe kind = store.kind
        guard let vault = VaultID(bytes: [UInt8](repeating: 1, count: 16)) else { exit(2) }
        do throws(ShareFailure) {
            switch words.first {
            case "probe":
                try store.probe()
                return "done"
            case "make":
                guard let nonce = Hexadecimal.decode(words[1]), let name = ShareName(vault: vault, nonce: nonce),
                    let share = try? SecretBytes(copyingBytes: [UInt8](repeating: UInt8(words[2]) ?? 0, count: 32))
                else { exit(2) }
                // The note is said before the store has anything: whoever ends this process knows it.
                let item = try store.make(share, as: name, under: .nobodyAsked(.whileUnlocked)) { item in
                    if folder != nil { note(item) }
                }
                return Hexadecimal.encode(item.encoded)
            case "hold":
                let owner = HardwareOwner(vault: vault, home: [UInt8](repeating: 2, count: 32))
                guard let secret = try? SecretBytes(zeroed: 32),
                    let share = try? SecretBytes(copyingBytes: [UInt8](repeating: UInt8(words[1]) ?? 0, count: 32))
                else { exit(2) }
                let item = try store.make(
                    share, as: .released(for: owner), under: .released(by: ReleaseKey(secret), after: [])
                ) { _ in }
                return Hexadecimal.encode(item.encoded)
            case "read":
                let share = try store.read(item(words[1]), of: vault)
                return share.withBytes { bytes in unsafe bytes.withUnsafeBytes { "\(unsafe $0[31]) \($0.count)" } }
            case "floor": return "\(try SecretServiceFloors().floor(of: .standard))"
            case "raise":
                guard let level = VaultLevel(rawValue: UInt8(words[1]) ?? 0) else { exit(2) }
                try SecretServiceFloors().set(LevelFloor(vault, level), of: .standard)
                return "done"
            case "forget":
                try SecretServiceFloors().removeFloor(of: .standard)
                return "done"
            case "revoke": return "\(try store.revoke(item(words[1]), of: vault))"
            default: exit(2)
            }
        } catch { return "\(error)" }
    }

    nonisolated(unsafe) private static var kind = KeyStoreKind.secretService  // set once, before anything is parsed

    private static func note(_ item: ShareItem) {
        let line = Hexadecimal.encode(item.encoded) + "\n"
        _ = unsafe write(1, line, line.utf8.count)
    }

    private static func item(_ text: String) -> ShareItem {
        guard let item = try? ShareItem(unsafe kind, parsing: Hexadecimal.decode(text) ?? []) else { exit(2) }
        return item
    }
}

extension SecretBytes {
    fileprivate init(copyingBytes bytes: [UInt8]) throws { self = try unsafe SecretBytes(copying: bytes.span.bytes) }
}

private enum Hardware {
    static func run(_ words: [String]) throws {
        guard words.count == 3, let place = unsafe getenv("SUBJECT_TPM") else { exit(2) }
        let location = TPMLocation(unsafe String(cString: place))
        var settings = VaultSettings.costsForTests()
        settings.tier = TPMAttemptTier(at: location)
        settings.anchor = TPMGenerationAnchor(at: location)
        let vault = try Vault(at: words[1], settings: settings)
        let passcode = try secret("right")
        let attempt = try vault.burnAttempt()
        switch words[0] {
        case "enroll":
            let phrase = try RecoveryPhrase(parsing: secret(words[2]))
            try vault.enrollHardware(passcode: passcode, spending: attempt, phrase: phrase)
        case "change": try vault.changePasscode(from: passcode, spending: attempt, to: passcode)
        case "remove": try vault.removeHardware(passcode: passcode, spending: attempt)
        case "enrollPIN": try vault.enrollPIN(secret("2580"), passcode: passcode, spending: attempt)
        case "removePIN": try vault.removePIN(passcode: passcode, spending: attempt)
        default:
            try vault.changePolicy(passcode: passcode, spending: attempt) { policy in
                policy.lockTiming = policy.lockTiming == .onRelaunch ? .after(seconds: 5) : .onRelaunch
            }
        }
    }

    private static func secret(_ text: String) throws -> SecretBytes {
        let bytes = Array(text.utf8)
        return try unsafe SecretBytes(copying: bytes.span.bytes)
    }
}
