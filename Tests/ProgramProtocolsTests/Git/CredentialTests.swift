import ProgramProtocols
import TestSupport
import Testing

/// git's attributes, and the addresses of accounts.
@Suite struct CredentialTests {
    private func parse(_ text: String) throws(CredentialError) -> CredentialAttributes {
        let bytes = Array(text.utf8)
        return try unsafe CredentialAttributes(parsing: bytes.span.bytes)
    }

    @Test func `attributes that are known are read, and others are left out`() throws {
        let text = """
            capability[]=authtype
            protocol=https
            host=Example.org:8080
            path=team/repository.git
            username=ada
            password=p=ss word
            password_expiry_utc=1900000000
            oauth_refresh_token=token
            wwwauth[]=Basic realm="x"

            password=behind the empty line
            """
        let attributes = try parse(text)
        let address = try #require(attributes.address)
        #expect(address.name == "https://ada@example.org:8080/team/repository.git")
        func part(_ range: Range<Int>?) -> String? {
            range.map { String(decoding: Array(text.utf8)[$0], as: UTF8.self) }
        }
        #expect(part(attributes.password) == "p=ss word" && part(attributes.refreshToken) == "token")
        #expect(attributes.expiry == 1_900_000_000)
        #expect(try parse("").address == nil && parse("protocol=https\n").address == nil)
        #expect(try parse("protocol=https\nhost=a\nusername=\n").address?.user == "")
        #expect(try parse("protocol=https\nhost=a\n").address?.user == nil)
        #expect(try parse("protocol=https\nhost=\n").address == nil && parse("protocol=cert\nhost=\n").address == nil)
        let key = "protocol=cert\nhost=\nusername=\npath=/home/ada/client key.pem\n"
        #expect(try parse(key).address?.name == "cert:///home/ada/client%20key.pem")
        #expect(try parse("protocol=https\nhost=a\nhost=b").address?.host == "b", "the later one counts, as in git")
    }

    @Test(
        arguments: [
            ("x", .invalidLine), ("=x", .invalidLine), ("host=a\0b", .invalidByte),
            ("host=a\rprotocol=b", .invalidByte),
            ("protocol=https\nhost=a/b", .invalidAddress), ("protocol=https\nhost=a@b", .invalidAddress),
            ("protocol=ht tps\nhost=a", .invalidAddress),
            ("host=" + String(repeating: "a", count: 513), .invalidAddress),
            ("password_expiry_utc=soon", .invalidExpiry), ("password_expiry_utc=-1", .invalidExpiry),
            (String(repeating: "a=b\n", count: 257), .tooManyLines),
            ("password=" + String(repeating: "x", count: 61_440), .tooLong),
        ] as [(String, CredentialError)])
    func `attributes that no git sends are refused`(text: String, error: CredentialError) {
        #expect(throws: error) { try parse(text) }
        #expect(!error.words.isEmpty)
    }

    @Test(
        arguments: [
            ("https", "example.org", nil, nil, "https://example.org"),
            ("https", "[::1]:80", "/a/b/", "a@b c/d", "https://a%40b%20c%2Fd@[::1]:80/a/b"),
            ("HTTP", "Host", "x%y z", "ü", "http://%C3%BC@host/x%25y%20z"),
        ] as [(String, String, String?, String?, String)])
    func `an address has one name, from which it is read`(
        scheme: String, host: String, path: String?, user: String?, name: String
    ) throws {
        let address = try #require(CredentialAddress(scheme: scheme, host: host, path: path, user: user))
        #expect(address.name == name && CredentialAddress(name: name) == address)
    }

    @Test(
        arguments: [
            ("github.com", "https://github.com"), ("https://GitHub.com/login?x=1#y", "https://github.com"),
            ("https://ada@github.com:443/", "https://github.com"), ("http://h:80", "http://h"),
            ("https://h:8443/x", "https://h:8443"), ("https://h:80", "https://h:80"),
            ("https://[::1]:443/", "https://[::1]"), ("https://[::1]", "https://[::1]"),
            ("https://[x]:443:443", "https://[x]:443:443"), ("https://a:443:443", "https://a:443:443"),
            ("https://:443", nil),
            ("https://github.com@evil.org/", "https://evil.org"), ("localhost:3000", "https://localhost:3000"),
            ("https://github.com.evil.org", "https://github.com.evil.org"),
            ("https://evil.org/@github.com", "https://evil.org"),
            ("https://evil.org?https://github.com", "https://evil.org"),
            ("https://evil.org\\@github.com", nil), ("https://github.com\\@evil.org", nil),
            ("https://a@b@github.com", nil), ("https://a b@github.com", nil),
            ("https://github.com\\.evil.org", nil),
            ("androidapp://com.github", nil), ("ssh://github.com", nil), ("cert://github.com", nil), ("", nil),
            ("https://", nil), ("https:///x", nil), ("https://b\u{fc}cher.example", nil), ("git hub.com", nil),
            ("https://user@", nil), ("github.com\n", nil),
        ] as [(String, String?)])
    func `the server of an address is its host and port, and no part of anything else`(text: String, server: String?) {
        #expect(CredentialAddress(serverOf: text)?.name == server)
    }

    @Test func `a file is found by its own path alone`() throws {
        let names = [
            "cert:///home/ada/key.pem", "cert://home/ada/key.pem", "cert:///home/ada/key.pem/", "cert:///home/ada",
            "cert://../key.pem",
        ]
        for name in names {
            let file = try #require(CredentialAddress(name: name))
            #expect(file.isFile && file.name == name && !file.leadsElsewhere && file.user == nil)
            for other in names {
                let asked = try #require(CredentialAddress(name: other))
                #expect(file.rank(for: asked) == (other == name ? 0 : nil), "\(name) \(other)")
                #expect(file.isNamed(by: asked) == (other == name))
            }
        }
        for (host, user, path) in [("h", nil, "a"), ("", "ada", "a"), ("", nil, nil), ("", nil, "")]
            as [(String, String?, String?)]
        {
            #expect(CredentialAddress(scheme: "cert", host: host, path: path, user: user) == nil)
        }
    }

    @Test func `an empty user is an account of its own`() throws {
        let empty = try #require(CredentialAddress(name: "https://@h"))
        #expect(empty.user == "" && empty.name == "https://@h")
        let questions = ["https://h", "https://@h", "https://ada@h"].compactMap { CredentialAddress(name: $0) }
        #expect(questions.map { empty.rank(for: $0) } == [0, 0, nil])
        #expect(
            try questions.map { try #require(CredentialAddress(name: "https://ada@h")).rank(for: $0) } == [0, nil, 0])
    }

    @Test(arguments: ["mail", "https://", "https://a b", "https://a/%2", "https://a/", "https://A", "https://a/%41"])
    func `a record with another name is no account`(name: String) {
        #expect(CredentialAddress(name: name) == nil)
    }

    @Test func `the longest path answers, and never for another user, host, port or scheme`() throws {
        func address(_ name: String) throws -> CredentialAddress { try #require(CredentialAddress(name: name)) }
        func rank(_ stored: String, _ asked: String) throws -> Int? { try address(stored).rank(for: address(asked)) }
        #expect(try rank("https://ada@h", "https://h/a/b") == 0)
        #expect(try rank("https://ada@h/a", "https://h/a/b") == 1)
        #expect(try rank("https://ada@h/a/b", "https://h/a/b") == 3)
        #expect(try rank("https://ada@h/a", "https://h/ab") == nil)
        #expect(try rank("https://ada@h/a", "https://h") == nil)
        #expect(try rank("https://ada@h", "https://bob@h") == nil)
        #expect(try rank("https://h", "https://bob@h") == nil)
        #expect(try rank("https://ada@h", "https://ada@h:8080") == nil)
        #expect(try rank("https://ada@h", "http://ada@h") == nil)
        #expect(try rank("https://ada@h", "https://ada@h.evil.org") == nil)
    }

    /// Paths that a server may take for what is not below `a`; git resolves one level of escapes before it asks.
    @Test(arguments: [
        "a/../evil", "a/%2e%2e/evil", "a/%2E./evil", "a/.%2e/evil", "a/%252e%252E/evil", "a/%25252e%2525252e/evil",
        "a/x/%2e%2e/%2e%2e/evil", "a/./b", "a/%2e/b", "a/..", "a/.", "a//evil", "a/%2f/evil", "a/b%2f..%2f..%2fevil",
        "a/%252f..%252fevil", "a/..\\evil", "a\\..\\evil", "a/%5c..%5Cevil", "a/%255Cevil", "a/..;/evil",
        "a/..;x=1/evil",
        "a/%2e%2e%3b/evil", "a/\t../evil", "a/..%00/evil", "a/..%09/evil", "a/%C0%AE%C0%AE/evil", "../a", "./a",
        "a/%2e%2E",
    ])
    func `a path that a server may take for another one gets no path's account`(path: String) throws {
        let asked = try #require(CredentialAddress(scheme: "https", host: "h", path: path))
        #expect(asked.leadsElsewhere)
        for stored in ["https://ada@h/a", "https://ada@h/a/b", "https://ada@h/evil", asked.name] {
            #expect(try #require(CredentialAddress(name: stored)).rank(for: asked) == nil, "\(stored)")
        }
        for question in ["https://h/a", "https://h/evil", "https://h"] {
            #expect(try asked.rank(for: #require(CredentialAddress(name: question))) == nil, "\(question)")
        }
        #expect(try #require(CredentialAddress(name: "https://ada@h")).rank(for: asked) == 0, "what is for every path")
    }

    @Test(arguments: [
        "a/b", "a.b/c..d", "...", "a/.git", "a/b;v=2", "a%20b", "100%", "a%2", "%zz/b", "\u{fc}/b", "~ada/x",
    ])
    func `a path that only looks odd is one`(path: String) throws {
        let stored = try #require(CredentialAddress(scheme: "https", host: "h", path: path, user: "ada"))
        #expect(!stored.leadsElsewhere)
        #expect(try stored.rank(for: #require(CredentialAddress(scheme: "https", host: "h", path: path + "/x"))) != nil)
    }

    @Test func `what looks alike and has other bytes is another account`() throws {
        func address(_ path: String?, _ user: String?) throws -> CredentialAddress {
            try #require(CredentialAddress(scheme: "https", host: "h", path: path, user: user))
        }
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        #expect(composed == decomposed)
        #expect(try address(nil, composed) != address(nil, decomposed))
        #expect(try Set([address(nil, composed), address(nil, decomposed)]).count == 2)
        #expect(try address(nil, composed).rank(for: address(nil, decomposed)) == nil)
        #expect(try address(composed, "ada").rank(for: address(decomposed, nil)) == nil)
        #expect(try address(composed, "ada").rank(for: address(decomposed + "/x", nil)) == nil)
        // With an accent on the slash, a text has no slash for Swift.
        #expect(try address("a", "ada").rank(for: address("a/\u{301}b", nil)) == 1)
        #expect(try !address(composed, "ada").isNamed(by: address(decomposed, "ada")))
        #expect(try !address(nil, composed).isNamed(by: address(nil, decomposed)))
    }

    @Test func `a question names what is stored for its own address alone`() throws {
        func isNamed(_ stored: String, _ question: String) throws -> Bool {
            try #require(CredentialAddress(name: stored)).isNamed(by: #require(CredentialAddress(name: question)))
        }
        #expect(try isNamed("https://ada@h", "https://ada@h") && isNamed("https://ada@h", "https://h"))
        #expect(try isNamed("https://ada@h/a", "https://ada@h/a"))
        for (stored, question) in [
            ("https://ada@h", "https://ada@h/a"), ("https://ada@h/a", "https://ada@h"),
            ("https://ada@h/a", "https://ada@h/a/b"),
            ("https://ada@h/a/b", "https://ada@h/a"), ("https://ada@h", "https://bob@h"),
            ("https://h", "https://bob@h"),
            ("https://ada@h", "http://ada@h"), ("https://ada@h", "https://ada@h:80"),
        ] {
            #expect(try !isNamed(stored, question), "\(stored) \(question)")
        }
    }
}
