import BetterAuthMessages
import SecretMemory
import TestSupport
import Testing

@testable import BetterAuth

@Suite struct CredentialsTests {
    private static func sample() throws -> Credentials {
        let keys = SoftwareDeviceKeys()
        func account() throws -> Account {
            Account(
                identity: IdentityID(AccessScene.digest), device: DeviceID(AccessScene.digest),
                current: try keys.makeKey(),
                next: try KeyRecord(
                    publicKey: SoftwareSigningKey.generate().publicKey, place: .chip, handle: [1, 2, 3],
                    secret: SecretBytes(zeroed: 32)),
                recoveryHashes: [RecoveryHash(AccessScene.digest)])
        }
        var credentials = Credentials()
        credentials.account = try account()
        credentials.staged = StagedAccount(kind: .recover, account: try account(), message: Array("staged".utf8))
        credentials.pending = PendingRotation(
            future: try keys.makeKey(),
            requests: [
                .init(effect: .link(DeviceID(AccessScene.digest)), message: [1]), .init(effect: .leave, message: [2]),
                .init(effect: .unlink(DeviceID(AccessScene.digest)), message: []),
                .init(effect: .changeRecovery(RecoveryHash(AccessScene.digest)), message: [4, 4]),
                .init(effect: .delete, message: [5]), .init(effect: .rotate, message: [6]),
            ])
        let scene = try AccessScene()
        credentials.session = Session(
            token: try scene.token(), current: try keys.makeKey(), next: try keys.makeKey(),
            expiry: AccessScene.start, refreshExpiry: try AccessScene.after(1))
        credentials.firstKeys = [FirstKey(server: "https://a", key: try keys.makeKey().publicKey)]
        credentials.keyChain = TrustedKeyChain(identity: AccessScene.digest, service: "https://k")
        credentials.server = "https://a.example"
        credentials.drills = .begun(
            AccessScene.start, spots: [SpotCheck(positions: [1, 2, 3], salt: [4], digest: [5, 6])])
        credentials.drills.note(passed: true, try AccessScene.after(5))
        return credentials
    }

    private func bytes(_ record: borrowing SecretBytes) -> [UInt8] {
        record.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
    }

    private func parse(_ bytes: [UInt8]) throws -> Credentials {
        try unsafe Credentials(parsing: bytes.span.bytes)
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        for credentials in [Credentials(), try CredentialsTests.sample()] {
            let record = bytes(try credentials.encoded())
            let read = try parse(record)
            #expect(bytes(try read.encoded()) == record)
            #expect(read.state == credentials.state && read.keys.count == credentials.keys.count)
            #expect(read.drills == credentials.drills && read.pending?.requests == credentials.pending?.requests)
        }
        // The scalar that comes back signs as the key that was stored.
        let credentials = try CredentialsTests.sample()
        let read = try parse(bytes(credentials.encoded()))
        let key = try #require(read.account?.current)
        let signer = try SoftwareDeviceKeys().signer(key)
        let message = Array("message".utf8)
        let signature = try unsafe signer.sign(message.span.bytes)
        let verifier = try VerificationKey(try #require(credentials.account).current.publicKey)
        #expect(unsafe verifier.isValid(signature, for: message.span.bytes))
        // One in a chip does not sign here.
        let chip = try #require(read.account?.next)
        #expect(throws: IdentityError.self) { try SoftwareDeviceKeys().signer(chip) }
    }

    @Test func damageIsFound() throws {
        let record = bytes(try CredentialsTests.sample().encoded())
        for count in 0..<record.count { #expect(throws: IdentityError.self) { try parse(Array(record.prefix(count))) } }
        #expect(throws: IdentityError.self) { try parse(record + [0]) }
        let newer = #expect(throws: IdentityError.self) { try parse([2] + record.dropFirst()) }
        #expect(newer?.code == .newerVersion)
        let huge = #expect(throws: IdentityError.self) { try parse([UInt8](repeating: 1, count: 1 << 18)) }
        #expect(huge?.code == .damaged)
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            var changed = record
            changed[Int.random(in: 0..<record.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            _ = try? parse(changed)  // anything but a trap
        }
    }

    @Test func drillsGrowRare() throws {
        var drills = DrillState.begun(AccessScene.start)
        let day: Int64 = 86_400_000
        #expect(!drills.isDue(try AccessScene.after(7 * day - 1)))
        #expect(drills.isDue(try AccessScene.after(7 * day)))
        var now: Int64 = 7 * day
        for wait in [30, 90, 180, 180] as [Int64] {
            drills.note(passed: true, try AccessScene.after(now))
            now += wait * day
            #expect(!drills.isDue(try AccessScene.after(now - 1)))
            #expect(drills.isDue(try AccessScene.after(now)))
        }
        drills.note(passed: false, try AccessScene.after(now))
        #expect(drills.isDue(try AccessScene.after(now)))
        #expect(!DrillState().isDue(try AccessScene.after(now)))
    }
}

@Suite struct RotationSettlementTests {
    /// Every order of events: it always comes to an end, and what it says follows from what it was told.
    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func everyOrderEnds(_ canSupersede: Bool, _ wasSent: Bool) {
        var ends: [RotationSettlement.Outcome: Int] = [:]
        func walk(
            _ settlement: RotationSettlement, _ step: RotationSettlement.Step,
            _ path: [(RotationSettlement.Step, RotationSettlement.Event)]
        ) {
            #expect(path.count < 24)
            if case .end(let outcome) = step {
                ends[outcome, default: 0] += 1
                let last = path.last
                switch outcome {
                case .confirmed: #expect(last?.1 == .confirmed && [.send, .supersede].contains(last?.0))
                case .moved: #expect(last?.0 == .probeNext && last?.1 == .confirmed)
                case .blocked:
                    // The current key was accepted, and the request was sent again for it, and what takes its place.
                    #expect(last?.0 == .probeCurrent && last?.1 == .confirmed)
                    #expect(path.count(where: { $0.0 == .probeCurrent && $0.1 == .confirmed }) >= 2)
                    #expect(path.contains { $0.0 == .supersede } == canSupersede)
                case .undecided:
                    let isAbsent = last?.1 == .absent
                    #expect(isAbsent || last?.0 == .probeCurrent)
                    // A request that was lost twice is asked after, unless there is nobody to be asked.
                    #expect(isAbsent || path.contains { $0.0 == .probeNext })
                case .unknown:
                    #expect(path.suffix(2).map(\.0) == [.probeNext, .probeCurrent])
                    #expect(path.suffix(2).allSatisfy { $0.1 == .refused })
                }
                #expect(path.count(where: { $0.0 == .supersede }) <= (canSupersede ? 1 : 0))
                return
            }
            for event in [.confirmed, .refused, .lost, .absent] as [RotationSettlement.Event] {
                // A key that the server accepted as current is accepted again, unless the chain moves; that it moves in
                // between is one of the orders.
                var next = settlement
                let following = next.handle(event)
                walk(next, following, path + [(step, event)])
            }
        }
        walk(RotationSettlement(canSupersede: canSupersede, wasSent: wasSent), .send, [])
        #expect(ends.keys.count == 5)
    }
}

@Suite struct ServerAddressTests {
    @Test(arguments: [
        ("https://example.org", "https://example.org"), ("HTTPS://Example.Org/", "https://example.org"),
        ("https://example.org:8443/a/B/", "https://example.org:8443/a/B"),
        ("https://[2001:db8::1]:1", "https://[2001:db8::1]:1"),
        ("http://localhost:8080", "http://localhost:8080"), ("http://127.0.0.1", "http://127.0.0.1"),
        ("http://127.9.9.9:65535/x", "http://127.9.9.9:65535/x"), ("http://[::1]:80", "http://[::1]:80"),
    ])
    func good(_ text: String, _ expected: String) throws {
        #expect(try ServerAddress(text).description == expected)
    }

    @Test(arguments: [
        "", "example.org", "ftp://example.org", "https://", "https:///x", "https://user@example.org", "https://a?b=c",
        "https://a#b", "https://a:0", "https://a:65536", "https://a:", "https://a:+1", "https://a b", "https://a/../b",
        "https://[::1", "https://[zz]", "https://[::1]x", "https://-a", "https://a\\b", "https://a%2e", "https://ä",
        "https://a/\u{0}", "https://" + String(repeating: "a", count: 600),
    ])
    func malformed(_ text: String) { #expect(throws: ServerAddress.Refusal.malformed) { try ServerAddress(text) } }

    @Test(arguments: [
        "http://example.org", "http://localhost.example.org", "http://128.0.0.1", "http://127.0.0.1.example.org",
        "http://127.0.0", "http://127.0.0.256", "http://[::2]", "http://0.0.0.0", "http://127.1",
    ])
    func insecure(_ text: String) throws {
        #expect(throws: ServerAddress.Refusal.insecure) { try ServerAddress(text) }
        #expect(try ServerAddress(text, allowsPlain: true).isEncrypted == false)
    }

    @Test func paths() {
        for path in ["/", "/foo/bar", "/a.b-c_d~e"] { #expect(ServerAddress.isPath(path)) }
        for path in ["", "foo", "//a", "/a/../b", "/a/.", "/a?b", "/a b", "/ä", "/a%20"] {
            #expect(!ServerAddress.isPath(path))
        }
    }
}
