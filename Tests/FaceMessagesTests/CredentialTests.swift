import FaceMessages
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
        #expect(try parse("protocol=https\nhost=a\nusername=\n").address?.user == nil)
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
}
