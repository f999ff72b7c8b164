import BetterAuthVerification
import BetterAuthMessages
import BetterAuthServer
import Cryptography
import TestSupport
import Testing

/// Bodies that no client sends: each gets an answer, and changes nothing.
@Suite(.seeded) struct MalformedTests {
    @Test(arguments: AuthOperation.allCases)
    func everythingThatIsNoMessageIsAnswered(_ operation: AuthOperation) throws {
        let server = try TestServer()
        let texts = [
            "", "{", "null", "[]", "{}", #"{"payload":{}}"#, #"{"payload":null,"signature":null}"#, "\u{0}",
            #"{"payload":{"access":{"nonce":"0A0123456789"},"request":{}},"signature":"0I"}"#,
            String(repeating: "[", count: 10_000),
        ]
        for text in texts {
            let reply = server.post(operation, Array(text.utf8))
            #expect(reply.code == .invalidMessage && reply.status == 400, "\(operation) \(text.prefix(40))")
        }
        let reply = server.post(operation, [UInt8](repeating: 0x20, count: MessageLimits.message + 1))
        #expect(reply.code == .tooLarge && reply.status == 413)
    }

    /// Spellings that one published peer or another accepts (protocol.md 13).
    @Test func otherSpellingsAreRefused() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let message = try account.device.rotation().0
        let text = String(decoding: message.bytes, as: UTF8.self)
        let signature = message.signature.description
        let device = message.payload.authentication.device.description
        let spellings: [(String, String)] = [
            ("a longer signature", text.replacing(signature, with: signature + "A")),
            ("padding", text.replacing(signature, with: signature + "=")),
            (
                "a newline in it",
                text.replacing(signature, with: signature.prefix(40) + "\\n" + signature.dropFirst(40))
            ),
            (
                "a raw newline in it",
                text.replacing(signature, with: signature.prefix(40) + "\n" + signature.dropFirst(40))
            ),
            ("the standard alphabet", text.replacing("_", with: "/").replacing("-", with: "+")),
            ("another code of a key", text.replacing("1AAI", with: "1AAJ")),
            ("another code of a signature", text.replacing(signature, with: "0J" + signature.dropFirst(2))),
            ("another code of a nonce", text.replacing("\"nonce\":\"0A", with: "\"nonce\":\"0B")),
            ("another code of a digest", text.replacing("\"device\":\"E", with: "\"device\":\"F")),
            ("lead bits of a digest", text.replacing(device, with: "EQ" + device.dropFirst(2))),
            ("lead bits", text.replacing(signature, with: "0I" + "E" + signature.dropFirst(3))),
            ("a short signature", text.replacing(signature, with: String(signature.dropLast()))),
            ("no signature", text.replacing(",\"signature\":\"\(signature)\"", with: "")),
            ("a null signature", text.replacing("\"\(signature)\"", with: "null")),
            ("letter case of names", text.replacing("\"payload\"", with: "\"Payload\"")),
            ("letter case of inner names", text.replacing("\"publicKey\"", with: "\"publickey\"")),
            ("an unknown member", text.replacing("\"request\"", with: "\"more\":1,\"request\"")),
            ("a duplicate", text.replacing("{\"payload\"", with: "{\"payload\":1,\"payload\"")),
            ("a space", text.replacing("\":\"", with: "\": \"")),
            ("what follows", text + " "),
            ("a short key", text.replacing(message.payload.authentication.publicKey.description, with: "1AAIA2sX")),
        ]
        for (name, spelling) in spellings {
            #expect(spelling != text, "\(name)")
            let reply = server.post(.rotateDevice, Array(spelling.utf8))
            #expect(reply.code == .invalidMessage, "\(name)")
        }
        #expect(server.post(.rotateDevice, message.bytes).code == nil)
    }

    /// A request for a session is not signed: what it lacks is still seen (protocol.md 13).
    @Test func aSessionRequestIsComplete() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let whole = UnsignedMessage(RequestSession.Request(nonce: try freshNonce(), identity: account.device.identity))
        let text = String(decoding: whole.bytes, as: UTF8.self)
        let (nonce, identity) = (whole.payload.nonce.description, account.device.identity.description)
        for changed in [
            text.replacing("\"nonce\":\"\(nonce)\"", with: ""), text.replacing("\"\(nonce)\"", with: "null"),
            text.replacing("\"identity\":\"\(identity)\"", with: ""), text.replacing("\"\(identity)\"", with: "null"),
            text.replacing(nonce, with: String(nonce.dropLast())), text.replacing(nonce, with: nonce + "A"),
            text.replacing(nonce, with: String(repeating: nonce, count: 1000)),
            text.replacing(identity, with: identity.lowercased()),
        ] {
            #expect(changed != text)
            #expect(server.post(.requestSession, Array(changed.utf8)).code == .invalidMessage, "\(changed.prefix(200))")
        }
        #expect(server.post(.requestSession, whole.bytes).code == nil)
    }

    /// A token is decompressed before its signature is known to be good: by anybody (protocol.md 12.18).
    @Test func tokensThatGrowAreRefused() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        var session = try TestSession(account.device, on: server)
        let good = session.token
        let signature = String(good.description.prefix(SignatureText.textSize))
        func refusal(_ member: [UInt8]) throws -> ErrorCode? {
            session.token = try TokenText(parsing: signature + base64URL(member))
            return try server.refresh(session).1
        }
        let gzip = ZlibTokenCompression()
        for size in [16_385, 1 << 20, 2 << 20] {
            let text = [UInt8](repeating: 0x20, count: size)
            let member = try unsafe gzip.deflate(text.span.bytes)
            #expect(try refusal(member) == .invalidMessage, "\(size)")
        }
        let text = Array(#"{"serverIdentity":"x"}"#.utf8)
        let member = try unsafe gzip.deflate(text.span.bytes)
        // Two members, what follows, a wrong checksum, an end that is missing, no claims at all.
        var damaged = member
        damaged[member.count - 6] ^= 1
        for other in [member + member, member + [0], damaged, Array(member.dropLast()), member] {
            #expect(try refusal(other) == .invalidMessage)
        }
        session.token = good
        #expect(try server.refresh(session).1 == nil)
    }

    /// What cannot be read is never said back, however it came in (protocol.md 12.24 and 12.25).
    @Test func nothingUnreadIsSaidBack() throws {
        let server = try TestServer()
        let mark = "<script>mark</script>"
        for operation in AuthOperation.allCases {
            for text in [
                mark, #"{"\#(mark)":1}"#, #"{"payload":{"access":{"nonce":"\#(mark)"}}}"#,
                #"{"payload":{"access":{"nonce":"0AAAAAAAAAAAAAAAAAAAAAAA"},"request":{"\#(mark)":{}}}}"#,
            ] {
                let reply = server.post(operation, Array(text.utf8))
                #expect(reply.code == .invalidMessage)
                #expect(!String(decoding: reply.body, as: UTF8.self).contains("mark"), "\(operation)")
            }
        }
    }

    @Test func aKeyBesideTheCurveIsAnswered() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        // x = 1, 2, ... until one has no point.
        let beside = try #require(
            (1...UInt8(50)).lazy.compactMap { x -> PublicKeyText? in
                let point = [2] + [UInt8](repeating: 0, count: 31) + [x]
                let isOnCurve = unsafe (try? P256PublicKey(compressed: point.span.bytes)) != nil
                return isOnCurve ? nil : unsafe PublicKeyText(raw: point.span.bytes)
            }.first)
        let rotation = RotationAuthentication(
            device: account.device.id, identity: account.device.identity, publicKey: beside,
            rotationHash: account.device.rotationHash)
        let message = try SignedMessage<RotateDevice.Request>(
            .init(nonce: freshNonce(), authentication: rotation), by: account.device.next)
        #expect(try server.send(RotateDevice.self, message) == .invalidMessage)
    }

    /// Bodies that were changed at random never trap and never succeed.
    @Test func damagedMessagesChangeNothing() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let message = try account.device.rotation().0
        var generator = SeededGenerator()
        for _ in 0..<500 {
            var body = message.bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = body.indices.randomElement(using: &generator)!
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: body[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: body.remove(at: index)
                default: body.insert(UInt8.random(in: 0x20...0x7E, using: &generator), at: index)
                }
            }
            guard body != message.bytes else { continue }
            #expect(server.post(.rotateDevice, body).code != nil, "\(String(decoding: body, as: UTF8.self))")
        }
        #expect(server.post(.rotateDevice, message.bytes).code == nil)
    }
}
