import FaceMessages
import TestSupport
import Testing

/// What programs send to the Secret Service: object paths, attributes, calls and sessions.
@Suite(.seeded) struct SecretServiceTests {
    @Test(arguments: [
        SecretServicePath.service, .collection("default"), .collection("a b/c_ü"), .alias("default"), .session(0),
        .session(.max), .item(collection: "default", name: "mail (2)"), .item(collection: "_", name: "é\u{301}"),
        .item(collection: String(repeating: "/", count: 255), name: String(repeating: "_", count: 1024)),
    ])
    func `a path is read as what it was written for`(path: SecretServicePath) {
        #expect(SecretServicePath(parsing: path.text) == path)
        #expect(path.text.utf8.allSatisfy { $0 == 47 || $0 == 95 || 48...57 ~= $0 || 65...90 ~= $0 || 97...122 ~= $0 })
    }

    @Test(arguments: [
        "", "/", "/org/freedesktop/secrets/", "/org/freedesktop/secret", "/org/freedesktop/secrets/collection",
        "/org/freedesktop/secrets/collection/", "/org/freedesktop/secrets/collection/a/b/c",
        "/org/freedesktop/secrets/collection/a/", "/org/freedesktop/secrets/collection//a",
        "/org/freedesktop/secrets/collection/_61", "/org/freedesktop/secrets/collection/_2F",
        "/org/freedesktop/secrets/collection/_2", "/org/freedesktop/secrets/collection/_00",
        "/org/freedesktop/secrets/collection/_ff", "/org/freedesktop/secrets/session/01",
        "/org/freedesktop/secrets/session/-1", "/org/freedesktop/secrets/session/+1",
        "/org/freedesktop/secrets/session/18446744073709551616", "/org/freedesktop/secrets/other/a",
        "/org/freedesktop/secrets/aliases", "/org/freedesktop/secrets/collection/é",
        "/org/freedesktop/secrets/collection/" + String(repeating: "a", count: 256),
        "/org/freedesktop/secrets/collection/" + String(repeating: "a", count: 100_000),
    ])
    func `another path is none, and each object has one`(path: String) {
        #expect(SecretServicePath(parsing: path) == nil)
    }

    private static func attributes(_ values: [String: String]) -> SecretServiceAttributes {
        var attributes = SecretServiceAttributes()
        for (name, value) in values { _ = attributes.add(Array(name.utf8), Array(value.utf8)) }
        return attributes
    }

    @Test func `attributes are kept as text`() throws {
        let attributes = Self.attributes(["user": "ada", "a=b%\n": "c=%\r\u{0}\u{7F}", "empty": "", "ü": "é"])
        #expect(attributes.values.count == 4)
        #expect(SecretServiceAttributes(parsing: attributes.text) == attributes)
        #expect(SecretServiceAttributes(parsing: []) == SecretServiceAttributes())
    }

    @Test(arguments: [
        "a", "=a", "a=1\na=2", "a=%", "a=%4", "a=%GG", "a=%4A", String(repeating: "a", count: 256) + "=b",
    ])
    func `another text is none`(text: String) {
        #expect(SecretServiceAttributes(parsing: Array(text.utf8)) == nil)
    }

    @Test func `attributes have limits`() {
        var attributes = SecretServiceAttributes()
        func add(_ name: [UInt8], _ value: [UInt8]) -> Bool { attributes.add(name, value) }
        #expect(!add([], [1]))
        #expect(!add([UInt8](repeating: 1, count: 256), []))
        #expect(!add([1], [UInt8](repeating: 1, count: 1025)))
        #expect((UInt8(0)..<64).allSatisfy { add([$0], []) })
        #expect(!add([64], []))
        #expect(!add([1], [1]))
        #expect(SecretServiceAttributes(parsing: [UInt8](repeating: 10, count: 1 << 20)) == nil)
    }

    @Test func `a question is answered by what has all of it`() {
        let stored = Self.attributes(["user": "ada", "server": "a.example"])
        #expect(stored.answer(Self.attributes(["user": "ada"])))
        #expect(stored.answer(Self.attributes([:])))
        #expect(!stored.answer(Self.attributes(["user": "bob"])))
        #expect(!stored.answer(Self.attributes(["user": "ada", "port": ""])))
        #expect(!Self.attributes(["user": "e\u{301}"]).answer(Self.attributes(["user": "\u{e9}"])))
    }

    @Test func `a session is one client's`() throws {
        var sessions = SecretServiceSessions<Int>()
        let (first, second) = (sessions.open(":1.1", 11) ?? 0, sessions.open(":1.2", 22) ?? 0)
        #expect(sessions.key(first, of: ":1.1") == 11)
        #expect(sessions.key(first, of: ":1.2") == nil)
        let (wrong, right) = (sessions.close(first, of: ":1.2"), sessions.close(first, of: ":1.1"))
        #expect(!wrong && right)
        #expect(sessions.key(first, of: ":1.1") == nil)
        sessions.leave(":1.2")
        #expect(sessions.key(second, of: ":1.2") == nil)
        #expect(sessions.isEmpty)
        let third = sessions.open(":1.1", 33)
        #expect(third != nil && third != first && third != second)
    }

    @Test func `sessions have limits`() {
        var sessions = SecretServiceSessions<Int>()
        func count(_ client: String) -> Int { (0..<20).count { _ in sessions.open(client, 0) != nil } }
        #expect(["a", "b", "c", "d", "e"].map(count) == [16, 16, 16, 16, 0])
        #expect(!sessions.hasRoom(for: "e"))
        sessions.leave("a")
        #expect(count("e") == 16)
    }

    private static func call(
        _ interface: String, _ member: String, _ signature: String, _ path: SecretServicePath?
    ) -> Result<SecretServiceCall, SecretServiceCall.Refusal> {
        Result { () throws(SecretServiceCall.Refusal) in
            try SecretServiceCall(interface: interface, member: member, signature: signature, on: path)
        }
    }

    @Test func `a call is what it is in whole`() {
        let service = "org.freedesktop.Secret.Service"
        #expect(Self.call(service, "OpenSession", "sv", .service) == .success(.openSession))
        #expect(Self.call("", "OpenSession", "sv", .service) == .success(.openSession))
        #expect(Self.call(service, "OpenSession", "sv", nil) == .failure(.unknownObject))
        #expect(Self.call(service, "OpenSession", "sv", .collection("a")) == .failure(.unknownMethod))
        #expect(Self.call(service, "Opensession", "sv", .service) == .failure(.unknownMethod))
        #expect(Self.call(service + ".", "OpenSession", "sv", .service) == .failure(.unknownMethod))
        for wrong in ["", "s", "svs", "vs", "ss"] {
            #expect(Self.call(service, "OpenSession", wrong, .service) == .failure(.invalidArguments))
        }
        #expect(Self.call("", "SearchItems", "a{ss}", .service) == .success(.searchItems))
        #expect(Self.call("", "SearchItems", "a{ss}", .collection("a")) == .success(.searchCollection))
        #expect(Self.call("", "Delete", "", .item(collection: "a", name: "b")) == .success(.deleteItem))
        #expect(Self.call("", "Close", "", .session(1)) == .success(.closeSession))
        #expect(Self.call("", "Get", "ss", .session(1)) == .failure(.unknownMethod))
    }

    @Test func `every call is found by its own name`() throws {
        let paths: [SecretServicePath] = [.service, .collection("a"), .item(collection: "a", name: "b"), .session(1)]
        for call in SecretServiceCall.allCases {
            let member = String(call.rawValue.split(separator: ".")[1])
            #expect(paths.contains { Self.call(call.interface, member, call.signature, $0) == .success(call) })
        }
    }
}
