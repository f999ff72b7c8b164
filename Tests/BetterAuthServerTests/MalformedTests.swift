import BetterAuthMessages
import BetterAuthServer
import Cryptography
import Testing

/// Bodies that no client sends: each gets an answer, and changes nothing.
@Suite struct MalformedTests {
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

    /// Spellings that one published peer or another accepts (protocol, section 13).
    @Test func otherSpellingsAreRefused() throws {
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let message = try account.device.rotation().0
        let text = String(decoding: message.bytes, as: UTF8.self)
        let signature = message.signature.description
        let spellings: [(String, String)] = [
            ("a longer signature", text.replacing(signature, with: signature + "A")),
            ("padding", text.replacing(signature, with: signature + "=")),
            (
                "a newline in it",
                text.replacing(signature, with: signature.prefix(40) + "\\n" + signature.dropFirst(40))
            ),
            ("the standard alphabet", text.replacing("_", with: "/").replacing("-", with: "+")),
            ("another code", text.replacing("1AAI", with: "1AAJ")),
            ("lead bits", text.replacing(signature, with: "0I" + "E" + signature.dropFirst(3))),
            ("a short signature", text.replacing(signature, with: String(signature.dropLast()))),
            ("no signature", text.replacing(",\"signature\":\"\(signature)\"", with: "")),
            ("a null signature", text.replacing("\"\(signature)\"", with: "null")),
            ("letter case of names", text.replacing("\"payload\"", with: "\"Payload\"")),
            ("an unknown member", text.replacing("\"request\"", with: "\"more\":1,\"request\"")),
            ("a duplicate", text.replacing("{\"payload\"", with: "{\"payload\":1,\"payload\"")),
            ("a space", text.replacing("\":\"", with: "\": \"")),
            ("what follows", text + " "),
            ("a short key", text.replacing(message.payload.authentication.publicKey.description, with: "1AAIA2sX")),
        ]
        for (name, spelling) in spellings where spelling != text {
            let reply = server.post(.rotateDevice, Array(spelling.utf8))
            #expect(reply.code == .invalidMessage, "\(name)")
        }
        #expect(server.post(.rotateDevice, message.bytes).code == nil)
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
        var generator = SystemRandomNumberGenerator()
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
