import ProgramProtocols
import TestSupport
import Testing

/// Which names a host has, and which keys are for it.
@Suite struct SSHKnownHostsTests {
    private static let file = """
        # server.example ssh-ed25519 KEY
        server.example,192.0.2.1 ssh-ed25519 KEY a comment

        @revoked gone.example ssh-ed25519 KEY
        @cert-authority *.example ssh-ed25519 KEY
        other.example ssh-ed25519 OTHER
        [Git.Example]:2222\tssh-ed25519\tKEY\r
        !not.example,*.pattern.example ssh-ed25519 KEY
        |1|c2FsdA==|aGFzaA== ssh-ed25519 KEY
        |2|x|y ssh-ed25519 KEY
        short KEY
        """

    @Test func `the names of a key are those of its own lines`() {
        let names = SSHKnownHosts.names(of: "KEY", in: Array(Self.file.utf8))
        #expect(
            names == [
                .text("server.example"), .text("192.0.2.1"), .text("[git.example]:2222"), .text("*.pattern.example"),
                .hashed(salt: "c2FsdA==", hash: "aGFzaA=="),
            ])
        #expect(SSHKnownHosts.names(of: "NONE", in: Array(Self.file.utf8)) == [])
        let many = Array(repeating: "a ssh-ed25519 KEY\n", count: 1000).joined()
        #expect(SSHKnownHosts.names(of: "KEY", in: Array(many.utf8)).count == 64)
    }

    private func answer(_ patterns: String, _ names: [SSHKnownHosts.Name]) -> SSHHostPatterns.Answer? {
        SSHHostPatterns(patterns)?.answer(names) { text, salt, hash in "\(salt) \(text)" == hash }
    }

    @Test(
        arguments: [
            ("server.example", .yes), ("SERVER.example", .yes), ("*.example", .yes), ("ser?er.example", .yes),
            ("a.example, server.example", .yes), ("ada@server.example", .yes), ("other.example", .no),
            ("*.example !server.example", .no), ("!server.example", .no), ("server", .no), ("*", .yes),
        ] as [(String, SSHHostPatterns.Answer)])
    func `patterns are as after Host`(patterns: String, wanted: SSHHostPatterns.Answer) {
        #expect(answer(patterns, [.text("server.example")]) == wanted)
    }

    @Test func `names may have a port, be patterns, or be hidden`() {
        let port = SSHKnownHosts.Name.text("[git.example]:2222")
        #expect(
            ["git.example", "[git.example]:2222", "[git.example]:22"].map { answer($0, [port]) } == [.yes, .yes, .no])
        #expect(answer("a.pattern.example", [.text("*.pattern.example")]) == .yes)
        let hidden = SSHKnownHosts.Name.hashed(salt: "s", hash: "s git.example")
        #expect(["git.example", "x.example", "*.example"].map { answer($0, [hidden]) } == [.yes, .no, .perhaps])
        #expect(answer("*.example !git.example", [hidden]) == .no)
    }

    @Test func `no patterns, and too many, say nothing`() {
        #expect(SSHHostPatterns(" ,\n") == nil)
        #expect(SSHHostPatterns(Array(repeating: "a", count: 65).joined(separator: " ")) == nil)
        #expect(SSHHostPatterns("@")?.answer([.text("a")]) { _, _, _ in true } == .no)
    }
}
