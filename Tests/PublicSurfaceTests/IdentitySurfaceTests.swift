import Foundation
import Testing

/// What apps use of the identity is public: a file of theirs is checked as a module of another package.
@Suite struct IdentitySurfaceTests {
    private static let example = Outsider.root.appending(path: "Tests/PublicSurface/IdentityOfAnApp.swift")

    @Test func anAppUsesTheIdentity() throws {
        let checked = try Outsider.check([Self.example.path])
        #expect(checked.status == 0, "\(checked.words.prefix(4000))")
    }

    /// What is the package's own stays so; else the check above would prove nothing.
    @Test func whatIsOursIsNotTheirs() throws {
        let checked = try Outsider.check(source: "import BetterAuth\nlet keys = SoftwareDeviceKeys()\n")
        #expect(checked.status != 0 && checked.words.contains("SoftwareDeviceKeys"), "\(checked.words.prefix(4000))")
    }

    /// Lines of an app that must not compile, and what the compiler says of them.
    static let refused: [(lines: String, words: String)] = [
        ("try await identity.deleteAccount()", "missing argument for parameter 'proof'"),
        ("try await identity.erase()", "missing argument for parameter 'proof'"),
        ("_ = try await identity.link(\"\")", "missing argument for parameter 'proof'"),
        ("_ = Proof()", "inaccessible"),
        ("_ = Proof(.passcode)", "inaccessible"),
        ("try await identity.erase(proof: given); try await identity.deleteAccount(proof: given)", "consumed"),
        ("let copies = [given]; _ = copies", "'Copyable'"),
        ("try app.vault.redeem(given)", "package"),
        ("_ = app.vault.identityRecord", "package"),
        ("_ = VaultCredentials(in: app.vault)", "VaultCredentials"),
        ("_ = identity.client", "internal"),
        ("_ = try Vault(at: \"/vault\")", "package"),
        ("_ = try app.vault.burnAttempt()", "package"),
        ("app.vault.lock()", "package"),
        ("try app.vault.unlock(phrase: RecoveryPhrase(parsing: SecretBytes(zeroed: 1)))", "package"),
        ("_ = try AppLock(vault: app.vault)", "package"),
        ("await app.lock.handle(.authenticate)", "no member 'authenticate'"),
        ("_ = LockMachine.self", "LockMachine"),
    ]

    /// Who has no proof cannot write down a call that wants one, and nobody writes down a proof.
    @Test("line", arguments: refused.indices)
    func whatNeedsTheOwnerCannotBeCalledWithoutHim(_ index: Int) throws {
        let (lines, words) = Self.refused[index]
        let source = """
            import BetterAuth
            import Holdfast
            func attempt(app: HoldfastApp, identity: VaultIdentity, given: consuming Proof) async throws { \(lines) }

            """
        let checked = try Outsider.check(source: source, mode: ["-emit-sil", "-o", "/dev/null"])
        #expect(checked.status != 0 && checked.words.contains(words), "\(lines): \(checked.words.prefix(2000))")
    }

    @Test func theDocumentsShowTheExample() throws {
        let source = try String(contentsOf: Self.example, encoding: .utf8)
        let examples = try ["Example", "Owner"].map { name in
            let begin = try #require(source.range(of: "// \(name) begins\n"))
            let end = try #require(source.range(of: "    // \(name) ends"))
            let lines = source[begin.upperBound..<end.lowerBound].split(
                separator: "\n", omittingEmptySubsequences: false)
            return lines.map { $0.hasPrefix("    ") ? String($0.dropFirst(4)) : String($0) }.joined(separator: "\n")
        }
        #expect(examples[0].count > 300 && examples[1].count > 100)
        for document in ["Docs/identity.md"] {
            let text = try String(contentsOf: Outsider.root.appending(path: document), encoding: .utf8)
            for example in examples { #expect(text.contains(example), "\(document)") }
        }
    }
}
