import BetterAuth
import BetterAuthVerification
import BetterAuthMessages
import Synchronization
import TestSupport
import Testing

@Suite struct AccessVerifierTests {
    @Test func theTranscriptsRequestPassesOnce() async throws {
        let transcript = try Transcript.load()
        let exchange = try #require(transcript.exchanges.first { $0.path == "/foo/bar" })
        let body = Array(try #require(exchange.request).utf8)
        let now = try time(#require(exchange.now))
        let server = try transcript.key("server-access")
        let verifier = AccessVerifier(
            keys: PinnedServerKeys(access: [try VerificationKey(server.publicKey)]), nonces: MemoryNonceStore(),
            revocations: MemoryRevocationList())
        let access = try await verifier.verify(body, now: now)
        #expect(access.request.body.bytes.text == #"{"foo":"bar","bar":"foo"}"#)
        #expect(access.claims.attributes.bytes.text.contains("permissionsByRole"))

        let again = await #expect(throws: AccessRefusal.self) { try await verifier.verify(body, now: now) }
        #expect(again?.reply == .plain(.replayed) && again?.httpStatus == 409)

        // The reply has the bytes of the transcript but for the signature.
        let response = try transcript.key("server-response")
        let bytes = try access.reply(ApplicationData(json: #"{"wasFoo":"bar","wasBar":"foo"}"#), signedBy: response)
        let reply = try SignedMessage<Response<Access>>(parsing: bytes)
        let expected = try SignedMessage<Response<Access>>(parsing: Array(#require(exchange.response).utf8))
        #expect(reply.payload == expected.payload)
        #expect(try VerificationKey(response.publicKey).isValid(reply))
    }

    @Test func everyByteOfARequestMatters() async throws {
        let scene = try AccessScene()
        let body = try scene.request(scene.token())
        let verifier = scene.verifier
        for index in body.indices {
            var changed = body
            changed[index] ^= 1
            #expect(try await scene.refusal(changed) != nil, "byte \(index)")
        }
        for count in stride(from: 0, to: body.count, by: 7) {
            #expect(try await scene.refusal(Array(body.prefix(count))) == .invalidMessage)
        }
        #expect(scene.nonces.count == 0)
        _ = try await verifier.verify(body, now: AccessScene.start)
        #expect(scene.nonces.count == 1)
    }

    @Test func windowAndTolerance() async throws {
        struct File: Decodable {
            struct Case: Decodable {
                let requestMillis: Int64?
                let issuedAt: Int64?
                let expiry: Int64?
                let nowMillis: Int64?
                let now: Int64?
                let expect: String
            }
            struct Cases: Decodable { let cases: [Case] }
            let accessWindow: Cases
            let token: Cases
        }
        let file = try vectors("timestamps", as: File.self)
        for vector in file.accessWindow.cases {
            let scene = try AccessScene()
            let body = try scene.request(scene.token(), after: #require(vector.requestMillis))
            let code = try await scene.refusal(body, after: #require(vector.nowMillis))
            #expect(code?.rawValue ?? "accept" == vector.expect)
        }
        for vector in file.token.cases {
            let scene = try AccessScene()
            let (issuedAt, now) = try (#require(vector.issuedAt), #require(vector.now))
            let token = try scene.token(
                issuedAfter: issuedAt, lifetime: #require(vector.expiry) - issuedAt)
            let code = try await scene.refusal(scene.request(token, after: now), after: now)
            #expect(code?.rawValue ?? "accept" == vector.expect)
        }

        var settings = AccessVerifier.Settings()
        settings.tolerance = .seconds(2)
        let scene = try AccessScene(settings)
        let token = try scene.token(issuedAfter: 2000)
        #expect(try await scene.refusal(scene.request(token, after: 2000)) == nil)
        #expect(try await scene.refusal(scene.request(token, after: 2001)) == .futureRequest)
        #expect(try await scene.refusal(scene.request(scene.token(issuedAfter: 2001))) == .futureToken)
        // The tolerance lengthens neither the token's life nor the window.
        #expect(try await scene.refusal(scene.request(token), after: 30_001) == .staleRequest)
        #expect(try await scene.refusal(scene.request(token, after: 902_001), after: 902_001) == .expiredToken)
    }

    /// A request from the future stays valid for longer; its nonce must be remembered for longer too.
    @Test func aNonceIsRememberedForAsLongAsItsRequestIsValid() async throws {
        var settings = AccessVerifier.Settings()
        settings.tolerance = .seconds(5)
        let scene = try AccessScene(settings)
        let body = try scene.request(scene.token(), after: 5000)
        #expect(try await scene.refusal(body) == nil)
        for moment in stride(from: 0, through: 35_000, by: 500) as StrideThrough<Int64> {
            #expect(try await scene.refusal(body, after: moment) == .replayed, "\(moment)")
        }
        #expect(try await scene.refusal(body, after: 35_001) == .staleRequest)
        #expect(scene.nonces.count == 1)
        // Forgotten once nothing can come of it.
        let other = try scene.request(scene.token(), after: 60_000)
        #expect(try await scene.refusal(other, after: 60_000) == nil && scene.nonces.count == 1)
    }

    @Test func aClockThatGoesBackFreesNoNonce() async throws {
        let scene = try AccessScene()
        let body = try scene.request(scene.token())
        #expect(try await scene.refusal(body) == nil)
        #expect(try await scene.refusal(scene.request(scene.token(), after: 90_000), after: 90_000) == nil)
        #expect(try await scene.refusal(body) == .replayed)
        // What nobody can know any more is refused too.
        #expect(try await scene.refusal(scene.request(scene.token())) == .replayed)
    }

    @Test func `a clock that was ahead for a while refuses that while, and nothing before it`() async throws {
        let scene = try AccessScene()
        let body = try scene.request(scene.token())
        #expect(try await scene.refusal(body) == nil)
        let hour: Int64 = 3_600_000
        let ahead = try scene.request(scene.token(issuedAfter: hour), after: hour)
        #expect(try await scene.refusal(ahead, after: hour) == nil)
        for seconds in [20, 90, 150] as [Int64] {
            let moment = hour + seconds * 1000
            let request = try scene.request(scene.token(issuedAfter: hour), after: moment)
            #expect(try await scene.refusal(request, after: moment) == nil)
        }
        // Back: the one that was seen before is refused, and those that come are taken, each once.
        #expect(try await scene.refusal(body, after: 10_000) == .replayed)
        for seconds in stride(from: 40, to: 3540, by: 50) as StrideTo<Int64> {
            let request = try scene.request(scene.token(lifetime: 2 * hour), after: seconds * 1000)
            #expect(try await scene.refusal(request, after: seconds * 1000) == nil, "\(seconds)")
            #expect(try await scene.refusal(request, after: seconds * 1000) == .replayed)
        }
        // Of the while that it was ahead nobody knows what was seen.
        #expect(try await scene.refusal(ahead, after: hour + 5000) == .replayed)
    }

    @Test func `seldom a request under a clock that was ahead refuses none of now`() async throws {
        let scene = try AccessScene()
        let (hour, pause): (Int64, Int64) = (3_600_000, 200_000)
        func isTaken(after moment: Int64) async throws -> Bool {
            let token = try scene.token(issuedAfter: moment, lifetime: hour)
            return try await scene.refusal(scene.request(token, after: moment), after: moment) == nil
        }
        #expect(try await isTaken(after: 0))
        for index in 0..<40 as Range<Int64> { #expect(try await isTaken(after: 5 * hour + index * pause)) }
        for index in 1..<40 as Range<Int64> { #expect(try await isTaken(after: index * pause), "\(index)") }
    }

    /// By less than a request is valid for.
    @Test func `a clock that goes back a little makes no request good again`() async throws {
        let scene = try AccessScene()
        let body = try scene.request(scene.token(), after: 59_500)
        #expect(try await scene.refusal(body, after: 59_500) == nil)
        #expect(try await scene.refusal(scene.request(scene.token(), after: 95_000), after: 95_000) == nil)
        #expect(try await scene.refusal(body, after: 66_000) == .replayed)
        // Calls that run side by side overtake each other.
        #expect(try await scene.refusal(scene.request(scene.token(), after: 94_000), after: 94_000) == nil)
    }

    @Test func aFullStoreRefuses() async throws {
        let scene = try AccessScene()
        let verifier = scene.verifier(nonces: MemoryNonceStore(capacity: 3))
        for _ in 0..<3 { _ = try await verifier.verify(scene.request(scene.token()), now: AccessScene.start) }
        let body = try scene.request(scene.token())
        let error = await #expect(throws: AccessRefusal.self) {
            try await verifier.verify(body, now: AccessScene.start)
        }
        #expect(error?.httpStatus == 503 && error?.reply == .plain(.base))
        // Room again when the three have ended.
        let later = try scene.request(scene.token(), after: 40_000)
        _ = try await verifier.verify(later, now: AccessScene.after(40_000))
    }

    @Test func strangersKeysAndTokens() async throws {
        let scene = try AccessScene()
        let stranger = try SoftwareSigningKey.generate()
        let token = try scene.token()
        #expect(try await scene.refusal(scene.request(token, signedBy: stranger)) == .wrongSignature)
        #expect(try await scene.refusal(scene.request(scene.token(signedBy: stranger))) == .wrongSignature)
        let unknown = scene.verifier(keys: PinnedServerKeys())
        #expect(try await scene.refusal(scene.request(token), by: unknown) == .unknownServer)
        // A response key is no access key.
        let confused = scene.verifier(
            keys: PinnedServerKeys(response: [try VerificationKey(scene.server.publicKey)]))
        #expect(try await scene.refusal(scene.request(token), by: confused) == .unknownServer)
        #expect(scene.nonces.count == 0)
    }

    @Test func revocation() async throws {
        let scene = try AccessScene()
        let token = try scene.token()
        #expect(try await scene.refusal(scene.request(token)) == nil)
        scene.revocations.revoke(DeviceID(AccessScene.digest), until: try AccessScene.after(900_000))
        // Also a token that is remembered as genuine; and the nonce stays free.
        #expect(try await scene.refusal(scene.request(token)) == .invalidDevice)
        #expect(scene.nonces.count == 1)

        let other = try AccessScene()
        let early = try other.token()
        let late = try other.token(issuedAfter: 1000)
        other.revocations.void(
            IdentityID(AccessScene.digest), issuedBefore: try AccessScene.after(1000),
            until: try AccessScene.after(901_000))
        #expect(try await other.refusal(other.request(early, after: 2000), after: 2000) == .invalidDevice)
        #expect(try await other.refusal(other.request(late, after: 2000), after: 2000) == nil)
    }

    @Test func failingStoresRefuse() async throws {
        struct Failing: ServerKeySource, NonceStore, RevocationList {
            struct Unreachable: Error {}
            func key(
                named name: PublicKeyText, for purpose: Endorsement.Purpose, now: Timestamp
            ) async throws -> VerificationKey? { throw Unreachable() }
            func reserve(_ nonce: NonceText, until: Timestamp, now: Timestamp) async throws -> Bool {
                throw Unreachable()
            }
            func isRevoked(_ claims: AccessClaims, now: Timestamp) async throws -> Bool { throw Unreachable() }
        }
        let scene = try AccessScene()
        let body = try scene.request(scene.token())
        for verifier in [
            scene.verifier(keys: Failing()), scene.verifier(nonces: Failing()), scene.verifier(revocations: Failing()),
        ] {
            let error = await #expect(throws: AccessRefusal.self) {
                try await verifier.verify(body, now: AccessScene.start)
            }
            #expect(error?.httpStatus == 503)
        }
        #expect(scene.nonces.count == 0)
    }

    /// One nonce, many callers: one of them wins.
    @Test func oneOfManyWins() async throws {
        let scene = try AccessScene()
        let body = try scene.request(scene.token())
        let wins = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask { (try? await scene.verifier.verify(body, now: AccessScene.start)) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wins == 1)
    }
}

@Suite struct VerifiedTokenCacheTests {
    /// A key that goes, as a tainted one does.
    private final class Withdrawable: ServerKeySource {
        let key: VerificationKey
        let isThere = Mutex(true)
        init(_ key: VerificationKey) { self.key = key }
        func key(
            named name: PublicKeyText, for purpose: Endorsement.Purpose, now: Timestamp
        ) async throws -> VerificationKey? { isThere.withLock { $0 } && name == key.text ? key : nil }
    }

    @Test func aKnownTokenSavesOnlyItsOwnSignature() async throws {
        let scene = try AccessScene()
        let source = Withdrawable(try VerificationKey(scene.server.publicKey))
        let verifier = scene.verifier(keys: source)
        let token = try scene.token()
        for moment in [0, 1000] as [Int64] {
            #expect(
                try await scene.refusal(scene.request(token, after: moment), after: moment, by: verifier) == nil)
        }
        // The request's own signature is looked at each time.
        let stranger = try SoftwareSigningKey.generate()
        #expect(try await scene.refusal(scene.request(token, signedBy: stranger), by: verifier) == .wrongSignature)
        // Expiry too.
        #expect(
            try await scene.refusal(scene.request(token, after: 900_001), after: 900_001, by: verifier)
                == .expiredToken)
        // And that the server's key still counts.
        let other = try scene.token(attributes: #"{"a":1}"#)
        #expect(try await scene.refusal(scene.request(other), by: verifier) == nil)
        source.isThere.withLock { $0 = false }
        #expect(try await scene.refusal(scene.request(other), by: verifier) == .unknownServer)
    }

    @Test func itIsBounded() async throws {
        var settings = AccessVerifier.Settings()
        settings.cachedTokens = 8
        let scene = try AccessScene(settings)
        for number in 0..<40 {
            let token = try scene.token(attributes: #"{"n":\#(number)}"#)
            #expect(try await scene.refusal(scene.request(token)) == nil)
            #expect(scene.verifier.cachedTokens <= 8)
        }
        #expect(scene.verifier.cachedTokens >= 4)
        // A large one is verified and not kept.
        let before = scene.verifier.cachedTokens
        let attributes = (0..<80).map { "\"\($0)\":\"\(String($0 &* 2_654_435_761, radix: 36))abcdefghijklmnop\"" }
        let large = try scene.token(attributes: "{" + attributes.joined(separator: ",") + "}")
        #expect(try await scene.refusal(scene.request(large)) == nil && scene.verifier.cachedTokens == before)
    }
}
