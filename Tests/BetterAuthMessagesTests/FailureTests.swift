import BetterAuthMessages
import Foundation
import TestSupport
import Testing

@Suite struct FailureTests {
    private static let failures: [(ProtocolError, String, Int, [String: String])] = {
        let (digest, nonce, time) = (Samples.digest, Samples.nonce, Samples.time)
        let text = digest.description
        let later = Timestamp(milliseconds: time.milliseconds + 250) ?? time
        let other = IdentityID(blake3(RawSpan()))
        return [
            (
                .invalidMessage(refusal { try ApplicationData(json: "x") }!), "BA101", 400,
                ["details": "unexpectedByte in application data at byte 0"]
            ),
            (.invalidIdentity(IdentityID(digest)), "BA102", 400, ["provided": text]),
            (.invalidDevice(DeviceID(digest), calculated: nil), "BA103", 400, ["provided": text]),
            (
                .invalidDevice(DeviceID(digest), calculated: DeviceID(digest)), "BA103", 400,
                ["provided": text, "calculated": text]
            ),
            (
                .invalidHash(.rotation, expected: digest, actual: other.digest), "BA104", 400,
                ["expected": text, "actual": other.description, "hashType": "rotation"]
            ),
            (
                .incorrectNonce(expected: nonce, actual: nonce), "BA203", 400,
                ["expected": "0AAAAQIDBAUGBwgJ...", "actual": "0AAAAQIDBAUGBwgJ..."]
            ),
            (
                .mismatchedIdentities(container: IdentityID(digest), request: other), "BA302", 401,
                ["linkContainerIdentity": text, "requestIdentity": other.description]
            ),
            (
                .expiredToken(.refresh, expiry: time, now: later), "BA401", 401,
                ["expiryTime": time.description, "currentTime": later.description, "tokenType": "refresh"]
            ),
            (
                .futureToken(issuedAt: later, now: time), "BA403", 401,
                ["issuedAt": later.description, "currentTime": time.description, "timeDifference": "250"]
            ),
            (
                .staleRequest(timestamp: time, now: later, window: 30_000), "BA501", 422,
                ["requestTimestamp": time.description, "currentTime": later.description, "maximumAge": "30000"]
            ),
            (
                .futureRequest(timestamp: later, now: time), "BA502", 422,
                ["requestTimestamp": later.description, "currentTime": time.description, "timeDifference": "250"]
            ),
            (.plain(.replayed), "HF410", 409, [:]), (.plain(.base), "BA000", 500, [:]),
        ]
    }()

    @Test func everyFailureIsWrittenAndReadAgain() throws {
        for (error, code, status, context) in FailureTests.failures {
            #expect(error.code.rawValue == code && error.code.httpStatus == status)
            let object = try JSONSerialization.jsonObject(with: Data(error.encoded)) as? [String: Any]
            let inner = try #require(object?["error"] as? [String: Any])
            #expect(object?.count == 1 && inner.count == 3)
            #expect(inner["code"] as? String == code && inner["message"] as? String == error.code.message)
            let written = (inner["context"] as? [String: Any] ?? [:]).mapValues { "\($0)" }
            #expect(written == context)
            let read = try #require(error.encoded.lend { ServerFailure(parsing: $0) })
            #expect(read.code == error.code && read.message == error.code.message && read.codeText == code)
        }
        #expect(Set(FailureTests.failures.map(\.0.code)).count == 12)
    }

    @Test func theCatalogueIsThatOfTheProtocol() {
        let listed = [
            "BA000": 500, "BA101": 400, "BA102": 400, "BA103": 400, "BA104": 400, "BA203": 400, "BA302": 401,
            "BA401": 401, "BA403": 401, "BA501": 422, "BA502": 422,
        ]
        let ours = ErrorCode.allCases.filter { $0.rawValue.hasPrefix("BA") }
        #expect(Dictionary(uniqueKeysWithValues: ours.map { ($0.rawValue, $0.httpStatus) }) == listed)
        #expect(Set(ErrorCode.allCases.map(\.message)).count == ErrorCode.allCases.count)
    }

    /// What servers are known to send when they fail.
    @Test func failuresOfPeersAreRecognised() throws {
        let known = [
            #"{"error":"an error occurred"}"#, #"{"error":"an error occured"}"#, "{}", #"{"status":500}"#,
            " { \"error\" : \"x\" }\n", #"{"error":null}"#, #"{"error":{"code":1}}"#, #"{"error":{"code":null}}"#,
        ]
        for text in known {
            guard case .failure(let failure) = try Reply<RotateDevice>(parsing: Array(text.utf8)) else {
                Issue.record("\(text) is no failure")
                continue
            }
            #expect(failure.code == nil)
        }
        let full = #"{"error":{"context":{"a":[1,2]},"message":"device unknown","code":"BA103","x":{}},"y":1}"#
        guard case .failure(let failure) = try Reply<RotateDevice>(parsing: Array(full.utf8)) else { return }
        #expect(failure.code == .invalidDevice && failure.message == "device unknown")
        let unknown = #"{"error":{"code":"BA999","message":"m"}}"#
        #expect(Array(unknown.utf8).lend { ServerFailure(parsing: $0) }?.codeText == "BA999")
    }

    @Test func whatIsNeitherIsAnError() {
        let neither = [
            "", "[]", "null", "<html>", #"{"payload":{}}"#, #"{"payload":null,"error":"x"}"#, #"{"error":"x"}x"#,
            #"{"error":"x","error":"y"}"#, #"{"error":"\ud800"}"#, #"{"pay\u006coad":1}"#, "\"x\"",
            String(repeating: "[", count: 60_000), #"{"error":""# + String(repeating: "x", count: 70_000) + #""}"#,
        ]
        for text in neither {
            #expect(refusal { try Reply<RotateDevice>(parsing: Array(text.utf8)) } != nil, "\(text.prefix(40))")
        }
    }

    @Test func wordsOfServersAreMadeHarmless() throws {
        func message(_ escaped: String) -> String? {
            Array(#"{"error":{"message":"\#(escaped)","code":"\#(escaped)"}}"#.utf8)
                .lend { ServerFailure(parsing: $0) }?.message
        }
        #expect(message(#"a\u001b[31mb\n\u0000c"#) == "a[31mbc")
        #expect(message(#"\u202eabc\u2028\u0085"#) == "abc")
        #expect(message(String(repeating: "é", count: 5000))?.unicodeScalars.count == 256)
        #expect(message("") == nil)
        let code = Array(#"{"error":{"code":"BA\u001b103"}}"#.utf8).lend { ServerFailure(parsing: $0) }
        #expect(code?.codeText == nil)
    }

    @Test func checksOfResponsesAndContainers() throws {
        let response = Response<RotateDevice>(nonce: Samples.nonce, serverIdentity: Samples.key, body: EmptyBody())
        let other = try #require(NonceText("0AD_____________________"))
        #expect(throws: ProtocolError.incorrectNonce(expected: other, actual: Samples.nonce)) {
            try response.check(nonce: other)
        }
        let stranger = RotationAuthentication(
            device: DeviceID(Samples.digest), identity: IdentityID(blake3(RawSpan())), publicKey: Samples.key,
            rotationHash: RotationHash(Samples.digest))
        let request = LinkDevice.Request(
            nonce: Samples.nonce, authentication: stranger, container: Samples.container)
        #expect(throws: ProtocolError.self) { try request.checkIdentities() }
        #expect(throws: ProtocolError.invalidIdentity(Samples.account.identity)) {
            try derivations.check(newAccount: Samples.account)
        }
        let calculated = derivations.device(Samples.key, RotationHash(Samples.digest))
        #expect(throws: ProtocolError.invalidDevice(DeviceID(Samples.digest), calculated: calculated)) {
            try derivations.check(device: DeviceID(Samples.digest), Samples.key, RotationHash(Samples.digest))
        }
    }
}
