import Foundation
import ProgramProtocols
import TestSupport
import Testing

/// What programs send to the Secret Service: object paths, attributes, calls and sessions.
@Suite(.seeded) struct SecretServiceTests {
    @Test(arguments: [
        SecretServicePath.service, .collection("default"), .collection("a b/c_ü"), .alias("default"), .session(0),
        .session(.max), .item(collection: "default", name: "mail (2)"), .item(collection: "_", name: "é\u{301}"),
        .item(collection: String(repeating: "/", count: 255), name: String(repeating: "_", count: 1024)),
        .sessionCollection, .sessionItem(7), .collection("session"), .item(collection: "session", name: "7"),
        .prompt(7), .found(attributes(["user": "ada", "a=b%": "ü\n"]), in: nil),
        .found(attributes(["a": "b"]), in: "a/b"),
        .found(attributes(["a": "b"]), in: "session"), .found(longest, in: String(repeating: "/", count: 255)),
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
        "/org/freedesktop/secrets/prompt/07", "/org/freedesktop/secrets/prompt/", "/org/freedesktop/secrets/search/",
        "/org/freedesktop/secrets/search/a", "/org/freedesktop/secrets/search/_3da",
        "/org/freedesktop/secrets/search/b_3d1_0aa_3d1",
        "/org/freedesktop/secrets/search/n_3dv/", "/org/freedesktop/secrets/search/n_3dv/session",
        "/org/freedesktop/secrets/search/n_3dv/a/b",
        "/org/freedesktop/secrets/search/" + String(repeating: "_c3_bc", count: 8193),
        "/org/freedesktop/secrets/collection/session/a", "/org/freedesktop/secrets/collection/session/07",
        "/org/freedesktop/secrets/collection/_73ession2", "/org/freedesktop/secrets/collection/session/1/2",
        "/org/freedesktop/secrets/aliases", "/org/freedesktop/secrets/collection/é",
        "/org/freedesktop/secrets/collection/" + String(repeating: "a", count: 256),
        "/org/freedesktop/secrets/collection/" + String(repeating: "a", count: 100_000),
    ])
    func `another path is none, and each object has one`(path: String) {
        #expect(SecretServicePath(parsing: path) == nil)
    }

    /// 16,384 bytes of text.
    private static let longest = attributes(
        Dictionary(
            uniqueKeysWithValues: (10..<26).map { ("\($0)", String(repeating: "v", count: $0 > 10 ? 1020 : 1021)) })
    )

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

    /// One that is its process's only one.
    private func client(_ name: String) -> SecretServiceClient {
        let start = name.utf8.reduce(UInt64(0)) { $0 &* 31 &+ UInt64($1) }
        return SecretServiceClient(name, SecretServiceClient.Process(1, start: start))
    }

    @Test func `a session is one client's`() throws {
        var sessions = SecretServiceSessions<Int>()
        let (first, second) = (sessions.open(client(":1.1"), 11) ?? 0, sessions.open(client(":1.2"), 22) ?? 0)
        let (own, others) = (sessions.key(first, of: ":1.1"), sessions.key(first, of: ":1.2"))
        #expect(own == 11 && others == nil)
        let (wrong, right) = (sessions.close(first, of: ":1.2"), sessions.close(first, of: ":1.1"))
        #expect(!wrong && right)
        let closed = sessions.key(first, of: ":1.1")
        sessions.leave(":1.2")
        let left = sessions.key(second, of: ":1.2")
        #expect(closed == nil && left == nil)
        #expect(sessions.isEmpty)
        let third = sessions.open(client(":1.1"), 33)
        #expect(third != nil && third != first && third != second)
    }

    @Test func `a client has few sessions, and those that keep the most make room for others`() {
        var sessions = SecretServiceSessions<Int>()
        func fill(_ client: String) -> [UInt64] { (0..<20).compactMap { _ in sessions.open(self.client(client), 0) } }
        let first = sessions.open(client("first"), 1) ?? 0
        let greedy = ["a", "b", "c"].map(fill) + [Array(fill("d"))]
        #expect(greedy.map(\.count) == [16, 16, 16, 20] && !sessions.hasRoom(for: "a"))
        // The last one had as many as the others, and ended its own.
        func isThere(_ number: UInt64, _ client: String) -> Bool { sessions.key(number, of: client) != nil }
        #expect(isThere(first, "first") && isThere(greedy[0][0], "a") && !isThere(greedy[3][0], "d"))
        let others = (0..<3).map { sessions.open(client("other \($0)"), 0) }
        #expect(!others.contains(nil))
        // Of each of the three with the most the one that was not used for the longest.
        #expect(isThere(greedy[0][0], "a") && !isThere(greedy[0][1], "a"))
        #expect(!isThere(greedy[1][0], "b") && !isThere(greedy[2][0], "c"))
        #expect(isThere(first, "first"))
    }

    @Test func `however many clients come, there are never more sessions than fit, and the last one has its own`() {
        var sessions = SecretServiceSessions<Int>()
        var last: UInt64?
        for number in 0..<1000 {
            last = sessions.open(client("client \(number)"), number)
            guard let last, sessions.key(last, of: "client \(number)") == number else {
                Issue.record("client \(number) has no session")
                return
            }
        }
        #expect(sessions.clients.count == SecretServiceSessions<Int>.most)
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
        #expect(Self.call("", "Get", "ss", .session(1)) == .success(.getProperty))
        #expect(Self.call("", "Close", "", .prompt(1)) == .failure(.unknownMethod))
    }

    @Test func `what an object says of itself is what it does`() throws {
        let paths: [SecretServicePath] = [
            .service, .collection("a"), .sessionCollection, .item(collection: "a", name: "b"), .sessionItem(1),
            .session(1), .prompt(1), .found(Self.attributes(["a": "b"]), in: nil),
        ]
        for path in paths {
            let text = try #require(SecretServiceIntrospection.text(of: path.text))
            for call in SecretServiceCall.allCases {
                let member = String(call.rawValue.split(separator: ".")[1])
                let isOn =
                    (try? SecretServiceCall(
                        interface: call.interface, member: member, signature: call.signature, on: path)) == call
                let parts = text.components(separatedBy: "<interface name=\"\(call.interface)\">")
                let own = parts.count > 1 ? parts[1].components(separatedBy: "</interface>")[0] : ""
                let line = own.split(separator: "\n").first { $0.contains("<method name=\"\(member)\">") }
                #expect((line != nil) == isOn, "\(path.text) \(call)")
                let taken = line?.components(separatedBy: "<arg ").filter { $0.contains("direction=\"in\"") }
                let types = taken?.map { $0.components(separatedBy: "type=\"")[1].prefix { $0 != "\"" } }
                #expect(line == nil || types?.joined() == call.signature, "\(call)")
            }
        }
    }

    @Test(arguments: [
        ("/", "org"), ("/org", "freedesktop"), ("/org/freedesktop", "secrets"),
        ("/org/freedesktop/secrets", "collection"),
        ("/org/freedesktop/secrets/aliases", "default"),
    ])
    func `the way to objects is shown, and nothing of the vault`(path: String, next: String) {
        #expect(SecretServiceIntrospection.text(of: path)?.contains("<node name=\"\(next)\"/>") == true)
        #expect(SecretServiceIntrospection.text(of: path + "x") == nil)
    }

    @Test func `every call is found by its own name`() throws {
        let paths: [SecretServicePath] = [
            .service, .collection("a"), .item(collection: "a", name: "b"), .session(1), .prompt(1),
        ]
        for call in SecretServiceCall.allCases {
            let member = String(call.rawValue.split(separator: ".")[1])
            #expect(paths.contains { Self.call(call.interface, member, call.signature, $0) == .success(call) })
        }
    }

    @Test func `paths of names that look alike and have other bytes are two`() throws {
        let paths = ["caf\u{e9}", "cafe\u{301}"].map { SecretServicePath.item(collection: "a", name: $0) }
        #expect(paths[0] != paths[1] && Set(paths).count == 2)
        for path in paths { #expect(SecretServicePath(parsing: path.text) == path) }
        #expect(SecretServicePath(parsing: "/org/freedesktop/secrets/collection/\u{e9}") == nil)
    }
}
