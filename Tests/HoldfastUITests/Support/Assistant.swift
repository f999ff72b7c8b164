import Holdfast
import HoldfastUI
import KeyStores
import TestSupport
import Testing

extension SetupModel {
    /// The assistant over this folder, on a machine with these parts.
    convenience init(_ scratch: Scratch, _ parts: Set<Part> = [], stores: ShareStores? = nil) {
        var given = scratch.settings
        if let stores { given.shareStores = { _ in stores } }
        let (settings, authenticator) = (given, scratch.authenticator)
        self.init(
            at: scratch.path,
            create: { (path, passcode) throws(VaultError) in
                try Vault.create(at: path, passcode: passcode, settings: settings)
            },
            open: { path throws(VaultError) in
                try HoldfastApp(vault: Vault(at: path, settings: settings), authenticator: authenticator)
            }, look: { _ in parts },
            unasked: Unasked(
                isPossible: { path in (try? settings.shareStores?(path).best()) != nil },
                create: { path throws(VaultError) in try Vault.createAtDevice(at: path, settings: settings) }))
    }

    /// Answers everything up to the question for the app lock.
    func toProtection() async throws {
        begin()
        await choose(passcode: try secret("a passcode"), repeated: try secret("a passcode"))
        let words = try #require(withPhrase(text)).split(separator: " ").map(String.init)
        phraseIsWritten()
        for position in positions { #expect(answer(words, position, isWrong: false)) }
        #expect(finishCheck())
    }

    func answer(_ words: [String], _ position: Int, isWrong: Bool) -> Bool {
        let word = isWrong ? "wrong" : " " + words[position - 1].uppercased() + "\n"
        return (try? secret(word).withBytes { answer($0, at: position) }) ?? false
    }
}
