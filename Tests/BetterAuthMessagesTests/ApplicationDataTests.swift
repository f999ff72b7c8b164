import BetterAuthMessages
import Foundation
import TestSupport
import Testing

@Suite(.seeded) struct ApplicationDataTests {
    @Test func validTextsAreKept() throws {
        var random = SeededGenerator()
        for _ in 0..<500 {
            let text = JSONSample.value(&random, depth: 10)
            let data = try text.lend { try ApplicationData(json: $0) }
            #expect(data.bytes == text)
            // Foundation understands every text that we take.
            _ = try JSONSerialization.jsonObject(with: Data(text), options: [.fragmentsAllowed])
            let message = SignedMessage(
                Access.Request(nonce: Samples.nonce, timestamp: Samples.time, token: Samples.token, body: data),
                signature: Samples.signature)
            #expect(try SignedMessage<Access.Request>(parsing: message.bytes) == message)
        }
    }

    private static let refused: [(String, MessageError.Reason)] = [
        ("", .truncated), ("{", .truncated), ("[1,", .truncated), (#"{"a""#, .truncated), (#""abc"#, .truncated),
        ("tru", .truncated), ("-", .truncated), ("1.", .truncated), ("1e", .truncated), (#""\u00"#, .truncated),
        (#""\"#, .truncated), (#""\ud800"#, .truncated), (#""\ud800\"#, .truncated),
        ("true1", .trailingBytes), ("1 ", .trailingBytes), ("nullnull", .trailingBytes), ("{}{}", .trailingBytes),
        (" 1", .unexpectedByte), ("[1, 2]", .unexpectedByte), (#"{"a" :1}"#, .unexpectedByte), ("[,]", .unexpectedByte),
        ("[1,]", .unexpectedByte), (#"{"a":1,}"#, .unexpectedByte), ("{,}", .unexpectedByte),
        ("{1:2}", .unexpectedByte),
        ("tRue", .unexpectedByte), ("NaN", .unexpectedByte), ("Infinity", .unexpectedByte), ("'a'", .unexpectedByte),
        ("+1", .unexpectedByte), (".5", .unexpectedByte), ("[1]]", .trailingBytes), ("// x\n1", .unexpectedByte),
        ("[1}", .unexpectedByte), (#"{"a":1]"#, .unexpectedByte), ("\u{FEFF}1", .unexpectedByte),
        ("01", .invalidNumber), ("-01", .invalidNumber), ("1.e5", .invalidNumber), ("1e+x", .invalidNumber),
        ("-x", .invalidNumber),
        (#"{"a":1,"a":2}"#, .duplicateMember), (#"{"a":1,"\u0061":2}"#, .duplicateMember),
        (#"{"é":1,"\u00E9":2}"#, .duplicateMember), (#"[{"x":{"😀":1,"\uD83D\uDE00":2}}]"#, .duplicateMember),
        (#"{"":1,"":2}"#, .duplicateMember), (#"{"\/":1,"/":2}"#, .duplicateMember),
        (#""\ud800""#, .loneSurrogate), (#""\udc00""#, .loneSurrogate), (#""\ud800\ud800""#, .loneSurrogate),
        (#""\ud800\n""#, .loneSurrogate), (#""\udc00\ud800""#, .loneSurrogate), (#""\ud800x""#, .loneSurrogate),
        (#""\x""#, .invalidEscape), (#""\u12g4""#, .invalidEscape), (#""\U0041""#, .invalidEscape),
        (#""\u+123""#, .invalidEscape), (#""\ud800\u12g4""#, .invalidEscape),
        ("\"\n\"", .controlCharacter), ("\"\u{0}\"", .controlCharacter), ("\"\u{1F}\"", .controlCharacter),
        (#"{"a\#u{9}":1}"#, .controlCharacter),
    ]

    @Test func malformedTextsAreRefused() {
        for (text, reason) in ApplicationDataTests.refused {
            let error = refusal { try ApplicationData(json: text) }
            #expect(error?.reason == reason, "\(text): \(String(describing: error))")
            // The same where it matters: inside a message of a peer.
            let message = SignedMessage(
                Access.Request(
                    nonce: Samples.nonce, timestamp: Samples.time, token: Samples.token,
                    body: MessageKind.applicationData), signature: Samples.signature
            ).bytes.text.replacing(MessageKind.applicationData.bytes.text, with: text)
            #expect(refusal { try SignedMessage<Access.Request>(parsing: Array(message.utf8)) } != nil, "\(text)")
        }
    }

    @Test func invalidUTF8IsRefused() {
        let refused: [[UInt8]] = [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
            [0xF0, 0x9F, 0x98], [0xF0, 0x9F, 0x98, 0x41], [0xE2, 0x82, 0xAC, 0x80],
        ]
        for bytes in refused {
            for text in [[0x22] + bytes + [0x22], [0x7B, 0x22] + bytes + Array(#"":1}"#.utf8)] as [[UInt8]] {
                #expect(refusal { try text.lend { try ApplicationData(json: $0) } }?.reason == .invalidUTF8, "\(bytes)")
            }
        }
        // Every scalar that there is, one a string, against the standard library.
        for value in stride(from: UInt32(0x20), through: 0x10_FFFF, by: 251) {
            guard let scalar = Unicode.Scalar(value), value != 0x22, value != 0x5C else { continue }
            #expect(throws: Never.self) { try ApplicationData(json: "\"\(scalar)\"") }
        }
    }

    @Test func depthIsBounded() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        let most = MessageLimits.depth - 2
        #expect(throws: Never.self) { try ApplicationData(json: nested(most)) }
        for depth in [most + 1, 100, 29_000] {
            #expect(refusal { try ApplicationData(json: nested(depth)) }?.reason == .nestedTooDeep, "\(depth)")
        }
        let open = String(repeating: #"{"a":"#, count: 10_000)
        #expect(refusal { try ApplicationData(json: open) }?.reason == .nestedTooDeep)
        // What is taken alone is taken in a message and in a token.
        let deepest = try ApplicationData(json: nested(most))
        let message = SignedMessage(
            Access.Request(nonce: Samples.nonce, timestamp: Samples.time, token: Samples.token, body: deepest),
            signature: Samples.signature)
        #expect(throws: Never.self) { try SignedMessage<Access.Request>(parsing: message.bytes) }
        let token = AccessToken(
            try Samples.claims(issuedAt: 0, expiry: 1, refreshExpiry: 2, attributes: nested(most))
        ) { _ in Samples.signature }
        #expect(throws: Never.self) { try AccessToken(opening: token.text(gzip), with: gzip) }
    }

    @Test func membersAndSizesAreBounded() {
        func object(_ count: Int) -> String {
            "{" + (0..<count).map { #""m\#($0)":0"# }.joined(separator: ",") + "}"
        }
        #expect(throws: Never.self) { try ApplicationData(json: object(MessageLimits.members)) }
        #expect(refusal { try ApplicationData(json: object(MessageLimits.members + 1)) }?.reason == .tooManyMembers)
        // The last of many repeats the first.
        let repeated = object(1000).dropLast() + #","m0":1}"#
        #expect(refusal { try ApplicationData(json: String(repeated)) }?.reason == .duplicateMember)
        let long = "\"" + String(repeating: "x", count: MessageLimits.applicationData - 2) + "\""
        #expect(throws: Never.self) { try ApplicationData(json: long) }
        #expect(refusal { try ApplicationData(json: long + " ") }?.reason == .tooLarge)
    }

    @Test func theLargestDataFitsIntoAMessageBesideTheLargestToken() throws {
        let long = "\"" + String(repeating: "x", count: MessageLimits.applicationData - 2) + "\""
        let token = Samples.signature.description + String(repeating: "A", count: MessageLimits.token - 88)
        let request = Access.Request(
            nonce: Samples.nonce, timestamp: Samples.time, token: try TokenText(parsing: token),
            body: try ApplicationData(json: long))
        let message = SignedMessage(request, signature: Samples.signature)
        #expect(try SignedMessage<Access.Request>(parsing: message.bytes) == message)
    }

    @Test func obstaclesForPeersAreSeen() throws {
        let cases: [(String, ApplicationData.Obstacles)] = [
            (#"{"foo":"bar","n":-12,"a":[true,null,"/:\"\\\n\u001f"]}"#, []),
            (#""é""#, .nonASCII), (#""<""#, .escapedByGo), (#""a&b""#, .escapedByGo),
            (#""\#u{2028}""#, [.nonASCII, .escapedByGo]), (#""\#u{2029}""#, [.nonASCII, .escapedByGo]),
            (#""\#u{202A}""#, .nonASCII),
            (#""\/""#, .needlessEscapes), (#""\u0041""#, .needlessEscapes), (#""\u000a""#, .needlessEscapes),
            (#""\u001F""#, .needlessEscapes), (#""\\u0041""#, []),
            ("1.5", .numbers), ("1e3", .numbers), ("-0", .numbers), ("9007199254740992", .numbers),
            ("9007199254740991", []), ("[-9007199254740992]", .numbers), ("99999999999999999999", .numbers),
            (#"{"a":1,"signature":2}"#, .signatureMember), (#"{"signature":2}"#, []),
            (#"{"a":",\"signature\":"}"#, []),
        ]
        for (text, expected) in cases {
            #expect(try ApplicationData(json: text).obstacles == expected, "\(text)")
        }
    }
}
