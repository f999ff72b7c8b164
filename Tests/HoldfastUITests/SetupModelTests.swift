import Foundation
import Holdfast
import HoldfastUI
import Testing

@MainActor @Suite(.timeLimit(.minutes(30))) struct SetupModelTests {
    private func setup(_ scratch: Scratch) -> SetupModel {
        let settings = scratch.settings
        return SetupModel(
            at: scratch.path,
            create: { (path, passcode) throws(VaultError) in
                try Vault.create(at: path, passcode: passcode, settings: settings)
            },
            open: { path throws(VaultError) in try HoldfastApp(vault: Vault(at: path, settings: settings)) })
    }

    @Test func fromNothingToAnOpenVaultWithItsLockOn() async throws {
        let scratch = Scratch()
        let model = setup(scratch)
        model.begin()
        await model.choose(passcode: try secret("a passcode"), repeated: try secret("another"))
        #expect(model.step == .passcode && model.problem == .passcodesDiffer)
        await model.choose(passcode: try secret(""), repeated: try secret(""))
        #expect(model.step == .passcode && model.problem == .invalidPasscode)
        await model.choose(passcode: try secret("a passcode"), repeated: try secret("a passcode"))
        #expect(model.step == .phrase)
        let words = try #require(model.withPhrase(text)).split(separator: " ").map(String.init)
        #expect(words.count == 24)
        model.phraseIsWritten()
        #expect(model.withPhrase(text) == nil, "not while they are asked for")
        #expect(model.positions.count == 3 && model.positions == model.positions.sorted())
        #expect(!model.finishCheck())
        for position in model.positions {
            #expect(!model.answer(words, position, isWrong: true))
        }
        #expect(!model.finishCheck() && model.step == .check)
        model.showPhraseAgain()
        #expect(model.step == .phrase)
        model.phraseIsWritten()
        for position in model.positions {
            #expect(model.answer(words, position, isWrong: false))
        }
        #expect(model.finishCheck() && model.step == .protection)
        await model.finish()
        #expect(model.step == .finished && model.problem == nil)
        let app = try #require(model.app)
        #expect(app.vault.isUnlocked)
        #expect(try app.vault.status().policy.isLockEnabled)
    }

    @Test func theFaceGoesFromTheAssistantToTheModels() async throws {
        let scratch = Scratch()
        let settings = scratch.settings
        let face = FaceModel(at: scratch.path, face: "test") { path throws(VaultError) in
            try HoldfastApp(vault: Vault(at: path, settings: settings))
        }
        guard case .setup = face.phase else { return #expect(Bool(false), "there is no vault yet") }
        try scratch.create()
        face.load()
        guard case .ready(let models) = face.phase else { return #expect(Bool(false), "there is one now") }
        #expect(models.lock.isLocked)
    }

    @Test func aFolderThatIsTakenIsLeftAlone() async throws {
        let scratch = Scratch()
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch.path + "/file"))
        let model = setup(scratch)
        model.begin()
        await model.choose(passcode: try secret("pass"), repeated: try secret("pass"))
        #expect(model.step == .passcode && model.problem == .exists)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["file"])
    }

    @Test(arguments: [
        ("", PasscodeStrength.Level.none), ("1234", .veryWeak), ("password", .veryWeak), ("Password", .veryWeak),
        ("aaaaaaaaaaaaaaaa", .veryWeak), ("qwertzuiop", .veryWeak), ("8361", .veryWeak), ("83614729", .weak),
        ("tk4mzp", .weak), ("tk4mzp91", .fair), ("correct horse battery staple", .strong), ("n8#Kx!0vQz", .strong),
        ("0123456789", .veryWeak), ("abcdefgh", .veryWeak),
    ])
    func passcodesAreJudged(_ passcode: String, _ level: PasscodeStrength.Level) throws {
        let strength = try secret(passcode).withBytes { PasscodeStrength(of: $0) }
        #expect(strength.level == level, "\(passcode) has \(strength.bits) bits")
        #expect(strength.hints.isEmpty == (level == .strong || level == .none))
    }

    @Test func moreOfTheSameIsNeverWeaker() throws {
        for character in ["x", "7", "ß"] {
            var last = 0
            for count in 1..<40 {
                let text = String(repeating: character, count: count)
                let bits = try secret(text).withBytes { PasscodeStrength(of: $0).bits }
                #expect(bits >= last)
                last = bits
            }
        }
    }
}

extension SetupModel {
    fileprivate func answer(_ words: [String], _ position: Int, isWrong: Bool) -> Bool {
        let word = isWrong ? "wrong" : " " + words[position - 1].uppercased() + "\n"
        return (try? secret(word).withBytes { answer($0, at: position) }) ?? false
    }
}
