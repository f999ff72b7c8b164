import BetterAuthMessages
import Foundation
import TestSupport
import Testing

/// The examples of the specification, which may not be copied into this package: an optional folder has them.
private struct ReadmeMessages: Decodable {
    struct Message: Decodable {
        struct Checks: Decodable {
            let signatureVerifies: Bool?
        }
        let name: String
        let message: String
        let signedBytes: String?
        let verificationKey: String?
        let checks: Checks?
    }
    let messages: [Message]
    let tokens: [String: Token]

    struct Token: Decodable {
        let token: String?
        let signedText: String?
    }

    static let missing = "README messages not found: set HOLDFAST_SHARED or place them in ../shared"

    static let data: Data? = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let given = ProcessInfo.processInfo.environment["HOLDFAST_SHARED"].map { URL(filePath: $0) }
        let shared = given ?? root.deletingLastPathComponent().appending(path: "shared")
        return try? Data(contentsOf: shared.appending(path: "vectors/better-auth/readme-messages.json"))
    }()
}

@Suite struct ReadmeMessageTests {
    @Test(.enabled(if: ReadmeMessages.data != nil, Comment(rawValue: ReadmeMessages.missing)))
    func everyExampleIsReproduced() throws {
        let file = try JSONDecoder().decode(ReadmeMessages.self, from: #require(ReadmeMessages.data))
        #expect(file.messages.count == 23)
        var verified = 0
        for example in file.messages {
            let bytes = Array(example.message.utf8)
            let parts = example.name.split(separator: ".")
            let outcome: Outcome =
                switch (parts[0], parts[1]) {
                case ("createAccount", "request"): try signed(bytes, CreateAccount.Request.self)
                case ("recoverAccount", "request"): try signed(bytes, RecoverAccount.Request.self)
                case ("deleteAccount", "request"): try signed(bytes, DeleteAccount.Request.self)
                case ("rotateDevice", "request"): try signed(bytes, RotateDevice.Request.self)
                case ("linkDevice", "container"): try signed(bytes, LinkContainerPayload.self)
                case ("linkDevice", "request"): try signed(bytes, LinkDevice.Request.self)
                case ("unlinkDevice", "request"): try signed(bytes, UnlinkDevice.Request.self)
                case ("changeRecoveryKey", "request"): try signed(bytes, ChangeRecoveryKey.Request.self)
                case ("createSession", "request"): try signed(bytes, CreateSession.Request.self)
                case ("refreshSession", "request"): try signed(bytes, RefreshSession.Request.self)
                case ("access", "request"): try signed(bytes, Access.Request.self)
                case ("requestSession", "request"):
                    Outcome(
                        rewritten: try UnsignedMessage<RequestSession.Request>(parsing: bytes).bytes, signed: nil,
                        signature: nil)
                case ("requestSession", "response"): try signed(bytes, Response<RequestSession>.self)
                case ("createSession", "response"): try signed(bytes, Response<CreateSession>.self)
                case ("refreshSession", "response"): try signed(bytes, Response<RefreshSession>.self)
                case ("access", "response"): try signed(bytes, Response<Access>.self)
                case (_, "response"): try signed(bytes, Response<RotateDevice>.self)
                default: throw CancellationError()
                }
            #expect(outcome.rewritten.text == shortened(example.message), "\(example.name)")
            guard let signedBytes = outcome.signed, let signature = outcome.signature else { continue }
            #expect(signedBytes.text == example.signedBytes, "\(example.name)")
            guard let key = example.verificationKey.flatMap({ PublicKeyText($0) }) else { continue }
            #expect(signedBytes.lend { verifies(signature, key, $0) }, "\(example.name)")
            verified += 1
        }
        // All signed ones but the request of createSession, whose key is in no example.
        #expect(verified == 21)
        for (name, vector) in file.tokens {
            guard let text = vector.token, let signedText = vector.signedText else { continue }
            let token = try AccessToken(opening: TokenText(parsing: text), with: gzip)
            #expect(token.signedBytes.text == signedText, "\(name)")
            #expect(token.claims.encoded.text == shortened(signedText), "\(name)")
            #expect(token.withSignedBytes { verifies(token.signature, token.claims.serverIdentity, $0) }, "\(name)")
        }
    }

    /// The examples have times of both forms, of which we write one.
    private func shortened(_ text: String) -> String {
        text.replacing(/(T\d\d:\d\d:\d\d\.\d{3})\d{6}Z/) { $0.output.1 + "Z" }
    }

    private struct Outcome {
        let rewritten: [UInt8]
        let signed: [UInt8]?
        let signature: SignatureText?
    }

    private func signed<P: MessagePayload>(_ bytes: [UInt8], _ type: P.Type) throws -> Outcome {
        let message = try SignedMessage<P>(parsing: bytes)
        return Outcome(
            rewritten: SignedMessage(message.payload, signature: message.signature).bytes,
            signed: message.withSignedBytes { $0.array }, signature: message.signature)
    }
}
