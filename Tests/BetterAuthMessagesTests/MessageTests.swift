import BetterAuthMessages
import Foundation
import TestSupport
import Testing

/// One valid message of every kind, and how it is parsed and written again from its members.
struct MessageKind: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]
    /// Parses, and writes what was parsed member by member.
    let rewrite: @Sendable ([UInt8]) throws -> [UInt8]
    var testDescription: String { name }

    static func signed<P: MessagePayload>(_ name: String, _ payload: P) -> MessageKind {
        MessageKind(name: name, bytes: SignedMessage(payload, signature: Samples.signature).bytes) { bytes in
            let message = try SignedMessage<P>(parsing: bytes)
            #expect(message.bytes == bytes)
            return SignedMessage(message.payload, signature: message.signature).bytes
        }
    }

    static func response<X: Exchange>(_ exchange: X.Type, _ body: X.ResponseBody) -> MessageKind {
        signed(
            "\(exchange) response",
            Response<X>(nonce: Samples.nonce, serverIdentity: Samples.otherKey, body: body))
    }

    static let applicationData = try! ApplicationData(
        json: #"{"foo":"b\u00e4r€","bar":[1,-2.5e+3,{"a":null},true,[]]}"#)

    static let all: [MessageKind] = {
        let (nonce, digest) = (Samples.nonce, Samples.digest)
        let session = RequestSession.Request(nonce: nonce, identity: IdentityID(digest))
        return [
            signed("create", CreateAccount.Request(nonce: nonce, authentication: Samples.account)),
            signed("recover", RecoverAccount.Request(nonce: nonce, authentication: Samples.recovery)),
            signed("delete", DeleteAccount.Request(nonce: nonce, authentication: Samples.rotation)),
            signed("rotate", RotateDevice.Request(nonce: nonce, authentication: Samples.rotation)),
            signed("change", ChangeRecoveryKey.Request(nonce: nonce, authentication: Samples.account)),
            signed(
                "link",
                LinkDevice.Request(nonce: nonce, authentication: Samples.rotation, container: Samples.container)),
            signed(
                "unlink",
                UnlinkDevice.Request(nonce: nonce, authentication: Samples.rotation, device: DeviceID(digest))),
            signed("container", LinkContainerPayload(authentication: Samples.rotation)),
            MessageKind(name: "session request", bytes: UnsignedMessage(session).bytes) {
                try UnsignedMessage<RequestSession.Request>(parsing: $0).bytes
            },
            signed(
                "session create",
                CreateSession.Request(
                    nonce: nonce, publicKey: Samples.key, rotationHash: RotationHash(digest), device: DeviceID(digest),
                    challenge: nonce)),
            signed(
                "session refresh",
                RefreshSession.Request(
                    nonce: nonce, publicKey: Samples.key, rotationHash: RotationHash(digest), token: Samples.token)),
            signed(
                "access",
                Access.Request(
                    nonce: nonce, timestamp: Samples.time, token: Samples.token, body: applicationData)),
            response(CreateAccount.self, EmptyBody()),
            response(RequestSession.self, ChallengeBody(challenge: nonce)),
            response(CreateSession.self, TokenBody(token: Samples.token)),
            response(Access.self, applicationData),
            signed(
                "endorsement",
                Endorsement(
                    purpose: .response, publicKey: Samples.key, expiration: Samples.time, hsm: digest,
                    generation: digest)),
            signed("first event", event(0, taints: false)),
            signed("tainting event", event(9_007_199_254_740_991, taints: true)),
        ]
    }()

    private static func event(_ number: UInt64, taints: Bool) -> KeyEvent {
        let digest = Samples.digest
        guard
            let event = KeyEvent(
                id: digest, prefix: digest, sequenceNumber: number, previous: number == 0 ? nil : digest,
                createdAt: Samples.time, taintPrevious: taints, purpose: KeyEvent.authorization,
                publicKey: Samples.key, rotationHash: RotationHash(digest))
        else { preconditionFailure("a sample is refused") }
        return event
    }
}

@Suite(.seeded) struct MessageTests {
    @Test(arguments: MessageKind.all)
    func whatIsReadIsWrittenAgain(_ kind: MessageKind) throws {
        #expect(try kind.rewrite(kind.bytes) == kind.bytes)
    }

    @Test(arguments: MessageKind.all)
    func truncationAtEveryByteIsRefused(_ kind: MessageKind) {
        for count in 0..<kind.bytes.count {
            let error = refusal { try kind.rewrite(Array(kind.bytes.prefix(count))) }
            #expect(error?.reason == .truncated, "\(count): \(String(describing: error))")
        }
    }

    @Test(arguments: MessageKind.all)
    func trailingBytesAreRefused(_ kind: MessageKind) {
        for more in ["\n", " ", "}", "\0", ",", "{}", kind.bytes.text] {
            let error = refusal { try kind.rewrite(kind.bytes + Array(more.utf8)) }
            #expect(error?.reason == .trailingBytes && error?.offset == kind.bytes.count, "\(more)")
        }
    }

    /// Any byte in any place: refused, or taken as another message with those very bytes.
    @Test(arguments: MessageKind.all)
    func changedBytesAreRefusedOrKept(_ kind: MessageKind) throws {
        var random = SeededGenerator()
        for place in kind.bytes.indices {
            for _ in 0..<4 {
                var changed = kind.bytes
                changed[place] = Bool.random(using: &random) ? .random(in: 0...255, using: &random) : UInt8(ascii: "\"")
                guard let again = try? kind.rewrite(changed) else { continue }
                #expect(again == changed)
            }
        }
    }

    /// Between any two bytes outside strings there is room for whitespace in JSON, and none in a signed message.
    @Test(arguments: MessageKind.all)
    func whitespaceIsRefused(_ kind: MessageKind) {
        var isInString = false
        var isEscaped = false
        for (place, byte) in kind.bytes.enumerated() {
            if !isInString {
                var spaced = kind.bytes
                spaced.insert([0x20, 0x0A, 0x0D, 0x09][place % 4], at: place)
                #expect(refusal { try kind.rewrite(spaced) } != nil, "\(place)")
            }
            if isInString, byte == UInt8(ascii: "\\"), !isEscaped { isEscaped = true; continue }
            if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
            isEscaped = false
        }
    }

    @Test(arguments: MessageKind.all)
    func hugeMessagesAreRefusedUnread(_ kind: MessageKind) {
        let huge = kind.bytes + [UInt8](repeating: 0x20, count: MessageLimits.message + 1 - kind.bytes.count)
        let error = refusal { try kind.rewrite(huge) }
        #expect(error == refusal { try kind.rewrite(huge + huge) })
        #expect(error?.reason == .tooLarge && error?.offset == 0)
    }
}

@Suite(.seeded) struct RefusalTests {
    private static let rotate = SignedMessage(
        RotateDevice.Request(nonce: Samples.nonce, authentication: Samples.rotation), signature: Samples.signature
    ).bytes.text

    private func refused(_ old: String, _ new: String) -> MessageError? {
        let changed = RefusalTests.rotate.replacing(old, with: new, maxReplacements: 1)
        #expect(changed != RefusalTests.rotate, "\(old) does not occur")
        return refusal { try SignedMessage<RotateDevice.Request>(parsing: Array(changed.utf8)) }
    }

    private static let device = "payload.request.authentication.device"
    private static let text = Samples.digest.description

    @Test func eachRefusalNamesReasonAndPlace() {
        let member = #""device":""# + RefusalTests.text + #"","#
        let authentication = "payload.request.authentication"
        let cases: [(String, String, MessageError.Reason, String)] = [
            // Members
            (member, "", .missingMember, RefusalTests.device),
            (member, member + member, .duplicateMember, RefusalTests.device),
            (member, member + #""d\u0065vice":"","#, .duplicateMember, RefusalTests.device),
            (#""device""#, #""Device""#, .unknownMember, authentication),
            (#""device""#, #""device ""#, .unknownMember, authentication),
            (#""device""#, #""devic\u0065""#, .unexpectedByte, RefusalTests.device),
            (member, member + #""extra":1,"#, .unknownMember, authentication),
            (#"},"signature""#, #","extra":1},"signature""#, .unknownMember, "payload"),
            (#","signature":"#, #","signature":null,"signature":"#, .wrongType, "signature"),
            (#"{"payload":"#, #"{"signature":"","payload":"#, .missingMember, "payload"),
            (#""access":{"nonce""#, #""access":{"none""#, .unknownMember, "payload.access"),
            (#""access":{"#, #""access":{},"x":{"#, .missingMember, "payload.access.nonce"),
            ("}}},", "}}}", .unexpectedByte, "signature"),
            (#"":{"authentication":"#, #"":{,"authentication":"#, .unexpectedByte, "payload.request.authentication"),
            // Types
            (#""device":""# + RefusalTests.text + #"""#, #""device":null"#, .wrongType, RefusalTests.device),
            (#""device":""# + RefusalTests.text + #"""#, #""device":1"#, .wrongType, RefusalTests.device),
            (#""device":""# + RefusalTests.text + #"""#, #""device":["x"]"#, .wrongType, RefusalTests.device),
            (#""request":{"#, #""request":[{"#, .wrongType, "payload.request"),
            (#""payload":{"#, #""payload":"{"#, .wrongType, "payload"),
            ("{", "[", .wrongType, ""),
            // Texts
            (RefusalTests.text, "", .invalidEncoding, RefusalTests.device),
            (RefusalTests.text, RefusalTests.text + "A", .invalidEncoding, RefusalTests.device),
            (RefusalTests.text, "F" + RefusalTests.text.dropFirst(), .invalidEncoding, RefusalTests.device),
            (RefusalTests.text, #"\u0045"# + RefusalTests.text.dropFirst(), .invalidEscape, RefusalTests.device),
            (RefusalTests.text, "\u{1}" + RefusalTests.text.dropFirst(), .controlCharacter, RefusalTests.device),
            (RefusalTests.text, #"\ud800"#, .loneSurrogate, RefusalTests.device),
            (RefusalTests.text, #"\x"#, .invalidEscape, RefusalTests.device),
            (RefusalTests.text, "é" + RefusalTests.text.dropFirst(2), .invalidEncoding, RefusalTests.device),
            (Samples.nonce.description, "0A0123456789", .invalidEncoding, "payload.access.nonce"),
            (
                Samples.nonce.description, String(repeating: "A", count: 40_000), .invalidEncoding,
                "payload.access.nonce"
            ),
            (Samples.signature.description, Samples.signature.description + "=", .invalidEncoding, "signature"),
        ]
        for (old, new, reason, place) in cases {
            let error = refused(old, new)
            #expect(error?.reason == reason && error?.place == place, "\(new.prefix(60)): \(String(describing: error))")
        }
        let place = RefusalTests.rotate.range(of: #""\#(RefusalTests.text)"#).map {
            RefusalTests.rotate.utf8.distance(from: RefusalTests.rotate.startIndex, to: $0.lowerBound)
        }
        #expect(refused(RefusalTests.text, "")?.offset == place)
    }

    @Test func errorsHoldNoContent() {
        let secret = "topsecret"
        for error in [
            refused(RefusalTests.text, secret), refused(#""device""#, "\"\(secret)\""),
            refused("}}},", "}}},\"\(secret)\":1,"),
        ] {
            #expect(error.map { !"\($0)".contains(secret) } == true)
        }
    }

    @Test func invalidUTF8IsRefusedInProtocolText() {
        var bytes = Array(RefusalTests.rotate.utf8)
        bytes[bytes.firstIndex(of: UInt8(ascii: "E"))!] = 0xFF
        #expect(refusal { try SignedMessage<RotateDevice.Request>(parsing: bytes) }?.reason == .invalidUTF8)
    }

    @Test func keyEventsThatContradictThemselvesAreRefused() throws {
        func parse(_ change: (String) -> String) -> MessageError? {
            let good = MessageKind.all.first { $0.name == "tainting event" }.map(\.bytes.text) ?? ""
            return refusal { try SignedKeyEvent(parsing: Array(change(good).utf8)) }
        }
        #expect(parse { $0 } == nil)
        let number = "9007199254740991"
        #expect(parse { $0.replacing(number, with: "0") }?.reason == .inconsistent)
        for wrong in ["9007199254740992", "01", "00", "18446744073709551616", String(repeating: "9", count: 5000)] {
            #expect(parse { $0.replacing(number, with: wrong) }?.reason == .invalidNumber, "\(wrong)")
        }
        #expect(parse { $0.replacing(number, with: "-1") }?.reason == .wrongType)
        #expect(parse { $0.replacing(number, with: "1.0") }?.reason == .unexpectedByte)
        #expect(parse { $0.replacing(":true", with: ":false") }?.reason == .wrongType)
        #expect(parse { $0.replacing(#""key-auth"#, with: #""Key auth"#) }?.reason == .invalidEncoding)
        #expect(parse { $0.replacing(#""previous":"E"#, with: #""previous":"F"#) }?.reason == .invalidEncoding)
        let previous = #","previous":""# + Samples.digest.description + #"""#
        #expect(parse { $0.replacing(previous, with: "") }?.reason == .inconsistent)
        #expect(parse { $0.replacing(previous, with: previous + previous) }?.reason == .duplicateMember)
        #expect(parse { $0.replacing(#","createdAt":"#, with: #","created":"#) }?.reason == .unknownMember)
    }

    @Test func timesAndTokensInMessages() {
        let access = MessageKind.all.first { $0.name == "access" }
        func parse(_ old: String, _ new: String) -> MessageError? {
            let changed = (access?.bytes.text ?? "").replacing(old, with: new, maxReplacements: 1)
            return refusal { try SignedMessage<Access.Request>(parsing: Array(changed.utf8)) }
        }
        let time = Samples.time.description
        for wrong in ["now", "", time + "0", "2026-01-02T03:04:05.678", String(repeating: "1", count: 9000)] {
            let error = parse(time, wrong)
            #expect(error?.reason == .invalidTimestamp && error?.place == "payload.access.timestamp", "\(wrong)")
        }
        #expect(parse(time, #"\u0032"# + time.dropFirst())?.reason == .invalidEscape)
        #expect(parse("\"\(time)\"", "null")?.reason == .wrongType)
        #expect(parse(time, "2026-01-02T03:04:05.678000000Z") == nil)
        let token = Samples.token.description
        #expect(parse("\"\(token)\"", "null")?.reason == .wrongType)
        #expect(parse(token, "")?.reason == .invalidToken)
        #expect(parse(token, token + "=")?.reason == .invalidToken)
        #expect(parse(token, "0J" + token.dropFirst(2))?.reason == .invalidEncoding)
        #expect(parse(token, token + String(repeating: "A", count: 4000))?.reason == .tokenTooLarge)
        #expect(parse(token, token + String(repeating: "A", count: 50_000))?.reason == .tokenTooLarge)
    }

    @Test func otherMessagesAreRefused() {
        // Each message is of one kind only, except those whose payloads look alike.
        let alike: [Set<String>] = [["delete", "rotate"], ["create", "change"]]
        for kind in MessageKind.all {
            for other in MessageKind.all where other.name != kind.name {
                let isTaken = (try? kind.rewrite(other.bytes)) != nil
                let mayBe =
                    alike.contains { $0.isSuperset(of: [kind.name, other.name]) }
                    || kind.name == "Access response" && other.name.hasSuffix("response")
                    || kind.name.hasSuffix("event") && other.name.hasSuffix("event")
                #expect(isTaken == mayBe, "\(other.name) as \(kind.name)")
            }
        }
    }
}
