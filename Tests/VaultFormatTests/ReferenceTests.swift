import TestSupport
import Testing
import VaultFormat

/// References to values.
@Suite(.seeded) struct ReferenceTests {
    @Test(
        arguments: [
            ("holdfast://default/mail/password", "default", "mail", "password"),
            ("holdfast://default/mail", "default", "mail", nil),
            ("holdfast://work/logins%2Fmail/user%20name", "work", "logins/mail", "user name"),
            ("holdfast://caf%C3%A9/%F0%9F%94%91/a%25b", "café", "🔑", "a%b"),
            ("holdfast://café/a:b@c,d=e+f/x", "café", "a:b@c,d=e+f", "x"),
            ("holdfast://a/../.", "a", "..", "."),
        ] as [(String, String, String, String?)])
    func `a reference names a collection, an item and a field`(
        text: String, collection: String, item: String, field: String?
    ) throws {
        let reference = try SecretReference(parsing: text)
        #expect(reference.collection == collection && reference.item == item && reference.field == field)
        #expect(try SecretReference(collection: collection, item: item, field: field) == reference)
        #expect(try SecretReference(parsing: reference.text) == reference)
    }

    @Test func `a reference can name the present code, and one of several fields`() throws {
        let code = try SecretReference(parsing: "holdfast://logins/mail/one-time%20code?attribute=otp")
        #expect(code.field == "one-time code" && code.isCode)
        #expect(code.text == "holdfast://logins/mail/one-time%20code?attribute=otp")
        let main = try SecretReference(parsing: "holdfast://logins/mail?attribute=otp")
        #expect(try main == SecretReference(collection: "logins", item: "mail", isCode: true) && main.field == nil)
        #expect(try main != SecretReference(parsing: "holdfast://logins/mail"))
        #expect(try SecretReference(parsing: "holdfast://a/b/website#2").field == "website#2")
        #expect(try SecretReference(parsing: "holdfast://a/b/x%3Fattribute=otp").isCode == false)
    }

    @Test func `references that look alike and have other bytes are two`() throws {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        for (one, other) in [
            (
                try SecretReference(collection: composed, item: "a"),
                try SecretReference(collection: decomposed, item: "a")
            ),
            (
                try SecretReference(collection: "a", item: composed),
                try SecretReference(collection: "a", item: decomposed)
            ),
            (
                try SecretReference(collection: "a", item: "b", field: composed),
                try SecretReference(collection: "a", item: "b", field: decomposed)
            ),
        ] {
            #expect(one != other && Set([one, other, one]).count == 2)
        }
    }

    @Test(
        arguments: [
            ("", .otherScheme), ("mail", .otherScheme), ("HOLDFAST://a/b", .otherScheme),
            ("holdfast:/a/b", .otherScheme),
            (" holdfast://a/b", .otherScheme), ("holdfast://", .missing(.item)), ("holdfast://a", .missing(.item)),
            ("holdfast:///b", .missing(.collection)), ("holdfast://a/", .missing(.item)),
            ("holdfast://a//c", .missing(.item)), ("holdfast://a/b/", .missing(.field)),
            ("holdfast://a/b/c/d", .tooManyParts), ("holdfast://a/b/c/", .tooManyParts),
            ("holdfast://a/b%", .invalidEscape), ("holdfast://a/b%4", .invalidEscape),
            ("holdfast://a/b%4g", .invalidEscape), ("holdfast://a/%/c", .invalidEscape),
            ("holdfast://a/b%00", .invalidText(.item)), ("holdfast://a/b/%FF", .invalidText(.field)),
            ("holdfast://%C3/b", .invalidText(.collection)), ("holdfast://a/b c", .invalidCharacter),
            ("holdfast://a/b\n", .invalidCharacter), ("holdfast://a/b?x", .unknownAttribute),
            ("holdfast://a/b?", .unknownAttribute), ("holdfast://a/b?attribute=otp/c", .unknownAttribute),
            ("holdfast://a/b?attribute=otp?attribute=otp", .unknownAttribute),
            ("holdfast://a?attribute=otp", .missing(.item)), ("holdfast://a/b/?attribute=otp", .missing(.field)),
            ("holdfast://a/b#x", .invalidCharacter), ("holdfast://a/$(id)", .invalidCharacter),
            ("holdfast://a/b}}", .invalidCharacter),
            ("holdfast://" + String(repeating: "a", count: 256) + "/b", .partTooLong(.collection)),
            ("holdfast://a/" + String(repeating: "b", count: 1025), .partTooLong(.item)),
            ("holdfast://a/b/" + String(repeating: "c", count: 256), .partTooLong(.field)),
            ("holdfast://a/" + String(repeating: "%62", count: 2000), .tooLong),
        ] as [(String, ReferenceError)])
    func `what is no reference is refused, and the error says why`(text: String, error: ReferenceError) {
        #expect(throws: error) { try SecretReference(parsing: text) }
        #expect(!error.words.isEmpty)
    }

    @Test func `bytes that are no UTF-8 are refused`() {
        let bytes = Array("holdfast://a/".utf8) + [0xC3]
        #expect(throws: ReferenceError.invalidText(.item)) { try unsafe SecretReference(parsing: bytes.span.bytes) }
    }

    @Test func `random parts are written and read as the same`() throws {
        var generator = SeededGenerator()
        for _ in 0..<(TestRun.isSoak ? 20_000 : 500) {
            let parts = (0..<3).map { _ in
                String(
                    (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                        Character(
                            Unicode.Scalar(UInt32.random(in: 1...0xD7FF, using: &generator)) ?? "a")
                    })
            }
            let isCode = Bool.random(using: &generator)
            let reference = try SecretReference(
                collection: parts[0], item: parts[1], field: parts[2], isCode: isCode)
            #expect(try SecretReference(parsing: reference.text) == reference)
            #expect(reference.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        }
    }
}
