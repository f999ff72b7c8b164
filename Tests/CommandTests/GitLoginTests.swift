import Foundation
import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat

/// Logins outside of git's collection that answer git because the user allowed it, and what git asks for besides
/// servers.
@Suite struct GitLoginTests {
    private let sandbox: AgentSandbox

    init() throws {
        sandbox = try AgentSandbox()
        try sandbox.sandbox.withItems { items in
            func add(
                _ path: String, _ user: String?, _ password: String, _ addresses: [String], tag: String? = nil,
                expiry: String? = nil
            ) throws {
                var item = try Item(.login)
                if let user { try item.add(.text, "username", secret(user)) }
                try item.add(.secret, "password", secret(password))
                for address in addresses { try item.add(.url, "website", secret(address)) }
                if let tag { try item.addTag(tag) }
                if let expiry { try item.add(.text, "password expiry", secret(expiry)) }
                try items.add(item, as: path, in: "Internet")
            }
            try add("GitHub", "ada", "hub", ["https://GitHub.com:443/login?x=1", "https://gitlab.example:8443"])
            try add("Old", "ada", "old", ["http://github.com"])
            try add("Phish", "eve", "phish", ["https://github.com@evil.org/", "https://github.com.evil.org"])
            try add("Bus", "eve", "bus", ["https://github.com"], tag: "secret-service")
            try add("Guarded", "gus", "guarded", ["guarded.example"], tag: "ask-each-time")
            for (host, end) in [("1", "1"), ("4000000000", "4000000000"), ("date", "2020-01-01")] {
                try add("Ends \(host)", "ada", "p", ["https://ends\(host).example"], expiry: end)
            }
        }
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
    }

    private func ask(_ action: String, _ lines: String) throws -> String {
        let result = try sandbox.run("git-credential", action, input: .file(sandbox.file((lines + "\n").utf8)))
        #expect(result.code == 0, "\(result.errors)")
        return result.text
    }

    private func names(_ words: String...) throws -> [String] {
        let result = try sandbox.run(raw: (["git-credential"] + words).map { Array($0.utf8) })
        #expect(result.code == 0, "\(result.errors)")
        return result.text.split(separator: "\n").map(String.init)
    }

    private func stored() throws -> String { try sandbox.run("list", "git").text }

    private static let hub = "protocol=https\nhost=github.com\n"

    @Test func `a login answers for the very host that was allowed, until that is taken back`() throws {
        #expect(try ask("get", Self.hub).isEmpty, "nothing is allowed yet")
        #expect(try names("allow", "github.com") == ["github.com\tInternet/GitHub\tada"])
        #expect(try names("allow", "https://GitHub.com:443/") == ["github.com\tInternet/GitHub\tada"], "again")
        #expect(try names("list") == ["github.com\tInternet/GitHub\tada"])
        for question in [
            Self.hub, Self.hub + "path=team/x.git\n", Self.hub + "path=team/../x\n", Self.hub + "username=ada\n",
            "protocol=https\nhost=github.com:443\n",
        ] {
            #expect(try ask("get", question) == "username=ada\npassword=hub\n", "\(question)")
        }
        for question in [
            Self.hub + "username=bob\n", Self.hub + "username=\n", Self.hub + "username=Ada\n",
            "protocol=http\nhost=github.com\n", "protocol=https\nhost=github.com:8443\n",
            "protocol=https\nhost=gitlab.example:8443\n", "protocol=https\nhost=evil.org\n",
            "protocol=https\nhost=www.github.com\n", "protocol=ftp\nhost=github.com\n",
        ] {
            #expect(try ask("get", question).isEmpty, "\(question)")
        }
        // The name of the login does not matter, and neither does a lock.
        #expect(try sandbox.run("mv", "Internet/GitHub", "work/hub").code == 0)
        #expect(try sandbox.run("lock").code == 0 && sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        #expect(try ask("get", Self.hub) == "username=ada\npassword=hub\n")
        #expect(try names("disallow", "github.com").isEmpty)
        #expect(try ask("get", Self.hub).isEmpty && names("list").isEmpty)
    }

    @Test func `what is taken back is taken from the trash and git's own collection too`() throws {
        _ = try names("allow", "github.com")
        #expect(try sandbox.run("rm", "Internet/GitHub").code == 0)
        #expect(try names("list").isEmpty)
        _ = try names("disallow", "github.com")
        #expect(try sandbox.run("trash", "restore", "Internet/GitHub").code == 0)
        #expect(try ask("get", Self.hub).isEmpty && names("list").isEmpty)
        #expect(try sandbox.run("show", "Internet/GitHub", "--field", "password").text == "hub")
        // A collection of git's own, and one that no agent serves.
        _ = try names("allow", "github.com")
        #expect(try sandbox.run("mv", "Internet/GitHub", "git/GitHub").code == 0)
        let own = try sandbox.run(
            "git-credential", "disallow", "github.com", "--no-agent", passcode: Prepared.passcode)
        #expect(own.code == 0, "\(own.errors)")
        #expect(try sandbox.run("mv", "git/GitHub", "Internet/GitHub").code == 0)
        #expect(try ask("get", Self.hub).isEmpty)
        let nothing = try sandbox.run("git-credential", "disallow", "github.com")
        #expect(nothing.code == 6 && nothing.errors.contains("no login is allowed for"), "\(nothing.errors)")
    }

    @Test func `an entry that asks is disallowed without a question, in the trash and elsewhere`() throws {
        // Nobody can be asked here: whatever needed a question would fail.
        func local(_ words: String...) throws {
            let result = try sandbox.run(
                raw: (words + ["--no-agent"]).map { Array($0.utf8) }, passcode: Prepared.passcode)
            #expect(result.code == 0, "\(result.errors)")
        }
        try local("tag", "add", "Internet/Ends 1", "ask-each-time")
        for name in ["Guarded", "Ends 1", "GitHub", "Ends 4000000000"] {
            try local("tag", "add", "Internet/\(name)", "git:github.com")
        }
        for name in ["Guarded", "GitHub"] { try local("rm", "Internet/\(name)") }
        // What asks is listed with the name that a search knows.
        #expect(try names("list") == ["github.com\tInternet/Ends 1\tada"])
        let result = try sandbox.run("git-credential", "disallow", "github.com")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
        for name in ["Guarded", "GitHub"] { try local("trash", "restore", "Internet/\(name)") }
        #expect(try sandbox.run("find", "#git:github.com").text.isEmpty)
        #expect(try sandbox.run("find", "#ask-each-time").text.split(separator: "\n").count == 2)
        #expect(try sandbox.run("git-credential", "disallow", "github.com").code == 6)
    }

    @Test func `of several logins for a host those that cannot be asked for are left and named`() throws {
        try sandbox.sandbox.withItems { items in
            var item = try Item(.login)
            try item.add(.secret, "password", secret("p"))
            try item.add(.url, "website", secret("https://github.com"))
            try item.addTag("ask-each-time")
            try items.add(item, as: "AAA", in: "Internet")
        }
        let result = try sandbox.run("git-credential", "allow", "github.com")
        #expect(result.code == 0 && result.text == "github.com\tInternet/GitHub\tada\n", "\(result.errors)")
        #expect(result.errors.contains("Internet/AAA asks first"))
    }

    @Test func `an allowed login whose password is over is not given`() throws {
        for (end, answer) in [("1", ""), ("4000000000", "username=ada\npassword=p\npassword_expiry_utc=4000000000\n")] {
            #expect(try names("allow", "ends\(end).example").count == 1)
            #expect(try ask("get", "protocol=https\nhost=ends\(end).example\n") == answer)
        }
    }

    @Test func `what git stores after an allowed login's end is kept, and an end that is no number is not told`() throws
    {
        _ = try names("allow", "ends1.example")
        let question = "protocol=https\nhost=ends1.example\n"
        let good = "username=ada\npassword=p\npassword_expiry_utc=4000000000\n"
        _ = try ask("store", question + good)
        #expect(try ask("get", question) == good)
        _ = try names("allow", "endsdate.example")
        #expect(try ask("get", "protocol=https\nhost=endsdate.example\n") == "username=ada\npassword=p\n")
    }

    @Test func `http is allowed for itself, and what is no server is refused`() throws {
        #expect(try names("allow", "http://github.com") == ["http://github.com\tInternet/Old\tada"])
        #expect(try ask("get", Self.hub).isEmpty)
        #expect(try ask("get", "protocol=http\nhost=github.com\n") == "username=ada\npassword=old\n")
        let long = String(repeating: "a", count: 61)
        for (words, code) in [
            (["allow"], 2), (["allow", "a b"], 2), (["allow", "https://github.com/team"], 2),
            (["allow", "ssh://github.com"], 2), (["allow", "ada@github.com"], 2), (["list", "github.com"], 2),
            (["allow", long], 1), (["allow", "nowhere.example"], 6), (["allow", "evil.org.github.com"], 6),
        ] as [([String], Int32)] {
            #expect(try sandbox.run(raw: (["git-credential"] + words).map { Array($0.utf8) }).code == code, "\(words)")
        }
    }

    @Test func `what git stores and erases changes no such login`() throws {
        _ = try names("allow", "github.com")
        let good = Self.hub + "username=ada\npassword=hub\n"
        _ = try ask("store", good)
        #expect(try stored().isEmpty, "what git got here is not stored a second time")
        _ = try ask("erase", good)
        _ = try ask("erase", Self.hub)
        #expect(try ask("get", Self.hub) == "username=ada\npassword=hub\n")
        // Another password is the user's, and comes first from then on.
        _ = try ask("store", Self.hub + "username=ada\npassword=new\n")
        #expect(try stored().contains("https://ada@github.com"))
        #expect(try ask("get", Self.hub) == "username=ada\npassword=new\n")
        #expect(try sandbox.run("show", "Internet/GitHub", "--field", "password").text == "hub")
        _ = try ask("erase", Self.hub + "username=ada\npassword=new\n")
        #expect(try ask("get", Self.hub) == "username=ada\npassword=hub\n")
    }

    @Test func `a login that asks gives nothing unasked, and is not copied where nobody is asked`() throws {
        let tagged = try sandbox.run(
            "tag", "add", "Internet/Guarded", "git:guarded.example", "--no-agent", passcode: Prepared.passcode)
        #expect(tagged.code == 0, "\(tagged.errors)")
        let question = "protocol=https\nhost=guarded.example\n"
        let refused = try sandbox.run("git-credential", "get", input: .file(sandbox.file(question.utf8)))
        #expect(refused.code != 0 && refused.output.isEmpty)
        for password in ["guarded", "guess"] {
            _ = try ask("store", question + "username=gus\npassword=\(password)\n")
            #expect(try stored().isEmpty)
        }
    }

    @Test func `of several, the one that was changed last answers; a tag alone is enough`() throws {
        let tag = "git:gitlab.example:8443"
        #expect(try sandbox.run("tag", "add", "Internet/GitHub", tag).code == 0)
        #expect(try sandbox.run("tag", "add", "Internet/Phish", tag).code == 0, "it has no such address")
        let question = "protocol=https\nhost=gitlab.example:8443\n"
        #expect(try ask("get", question) == "username=ada\npassword=hub\n")
        let second = try sandbox.run(
            "add", "work/second", "--username", "bob", "--url", "https://gitlab.example:8443", "--secret-fd=5",
            descriptors: [5: .file(sandbox.file("two\n".utf8))])
        #expect(second.code == 0, "\(second.errors)")
        #expect(try names("allow", "gitlab.example:8443").count == 2)
        #expect(try ask("get", question) == "username=bob\npassword=two\n")
        #expect(try ask("get", question + "username=ada\n") == "username=ada\npassword=hub\n")
    }

    @Test func `the permission goes through a backup`() throws {
        _ = try names("allow", "github.com")
        let copy = sandbox.path + "/copy"
        let made = try sandbox.run("backup", copy)
        #expect(made.code == 0, "\(made.errors)")
        let restored = try sandbox.run("restore", copy, "--home", sandbox.path + "/again")
        #expect(restored.code == 0, "\(restored.errors)")
        let question = try sandbox.file(Self.hub.utf8)
        let answer = try sandbox.run(
            "git-credential", "get", "--home", sandbox.path + "/again", passcode: Prepared.passcode,
            input: .file(question))
        #expect(answer.text == "username=ada\npassword=hub\n", "\(answer.errors)")
    }

    /// As git asks for the passphrase of `http.sslCert`, through its own front, which wants a user's name back.
    @Test func `git keeps the passphrase of a client's key, and an account without a user's name`() throws {
        let script = try sandbox.file(
            """
            set -eu; cd "$HOME"
            export GIT_TERMINAL_PROMPT=0 GIT_ASKPASS=/bin/false GIT_CONFIG_NOSYSTEM=1
            mkdir bin; ln -s "$HOLDFAST" bin/git-credential-holdfast; PATH=$HOME/bin:$PATH
            git config --global credential.helper holdfast
            key='protocol=cert\\nhost=\\nusername=\\npath=%s\\n'
            printf "${key}password=phrase\\n\\n" /home/ada/key.pem | git credential approve
            printf "$key\\n" /home/ada/key.pem | git credential fill | grep ^password
            printf "$key\\n" /home/ada/other.pem | git credential fill 2>/dev/null || echo none
            token='protocol=https\\nhost=h\\nusername=\\n'
            printf "${token}password=tok3n\\n\\n" | git credential approve
            printf "$token\\n" | git credential fill | grep -E '^(username|password)'
            printf 'protocol=https\\nhost=h\\n\\n' | git credential fill | grep -E '^(username|password)'
            printf 'protocol=https\\nhost=h\\nusername=ada\\n\\n' | git credential fill 2>/dev/null || echo none
            "$HOLDFAST" list git | cut -f 1
            printf "${key}password=phrase\\n\\n" /home/ada/key.pem | git credential reject
            printf "${token}password=tok3n\\n\\n" | git credential reject
            "$HOLDFAST" list git 2> /dev/null || echo 'none left'
            """.utf8)
        let result = try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(script.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 })
        #expect(
            result.text == """
                password=phrase
                none
                username=
                password=tok3n
                username=
                password=tok3n
                none
                git/cert:///home/ada/key.pem
                git/https://@h
                none left

                """, "\(result.text) \(result.errors)")
    }
}
