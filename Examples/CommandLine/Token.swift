// A command-line program that keeps an API token in a vault of its own: `token set < file`, `token use`.
//
// The vault opens with a share that this machine's key store keeps (the TPM or the keyring on Linux, the keychain on a
// Mac), so the program asks for nothing. Docs/app-lock.md 5 says what that protects against, and how it grows to a
// passcode.
import Foundation
import Holdfast

@main
struct Token {
    static func main() async {
        do {
            let app = try await HoldfastApp.open(folder, profile: "token")
            switch CommandLine.arguments.dropFirst().first {
            case "set":
                // Standard input, not an argument: other programs can read arguments.
                var token = Array(FileHandle.standardInput.readData(ofLength: 4096))
                guard !token.isEmpty else { fail("no token") }
                try app.vault.put(SecretBytes(wiping: &token), for: "token")
            case "use":
                let sent = try app.vault.withValue(for: "token") { bytes in
                    // The bytes are in locked memory and are wiped when this returns: use them here.
                    bytes.byteCount
                }
                print("a token of \(sent) bytes was used")
            default:
                fail("usage: token set | token use")
            }
        } catch let error as VaultError where error.code == .recordNotFound {
            fail("there is no token yet: token set < FILE")
        } catch {
            // The reason names no secret.
            fail("\(error)")
        }
    }

    private static var folder: String {
        get throws {
            let support = try FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
            return support.appending(path: "token-example").path(percentEncoded: false)
        }
    }

    private static func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("token: \(reason)\n".utf8))
        exit(1)
    }
}
