import BetterAuth
import BetterAuthMessages
import Synchronization
import TestSupport
import Testing

private struct File: Decodable {
    struct Event: Decodable { let entry: String }
    struct Authorization: Decodable {
        let generation: Int
        let record: String
    }
    let hsmIdentity: String
    let chain: [Event]
    let authorizations: [Authorization]
}

/// A chain that a test makes, with keys of its own.
private struct MadeChain {
    var keys: [SoftwareSigningKey] = []
    var events: [SignedKeyEvent] = []

    init(_ count: Int, tainting: Set<Int> = [], apart: Int64 = 3_600_000) throws {
        for _ in 0...count { keys.append(try .generate()) }
        for number in 0..<count {
            try append(number, taint: tainting.contains(number), at: Int64(number) * apart)
        }
    }

    mutating func append(
        _ number: Int, taint: Bool = false, at time: Int64, purpose: String = KeyEvent.authorization,
        key: SoftwareSigningKey? = nil, signer: SoftwareSigningKey? = nil, previous: DigestText?? = nil
    ) throws {
        let blank = DigestText("EGQ3s6w4RlEz_7Y7dSc6jbVIxVhGXXnbA_01nGzVvZ2F")!
        func event(_ id: DigestText) throws -> SignedKeyEvent {
            let payload = try #require(
                KeyEvent(
                    id: id, prefix: number == 0 ? id : events[0].payload.id, sequenceNumber: UInt64(number),
                    previous: previous ?? (number == 0 ? nil : events[number - 1].payload.id),
                    createdAt: AccessScene.after(time), taintPrevious: taint, purpose: purpose,
                    publicKey: (key ?? keys[number]).publicKey,
                    rotationHash: Derivations.standard.rotationHash(of: keys[number + 1].publicKey)))
            return try SignedMessage(payload, signedBy: signer ?? keys[number])
        }
        let text = try event(blank).digestInput
        events.append(try event(unsafe DigestText(blake3: text.span.bytes)))
    }

    var identity: DigestText { events[0].payload.id }

    var list: [UInt8] { Array(("[" + events.map(\.bytes.text).joined(separator: ",") + "]").utf8) }

    func endorsement(
        _ name: PublicKeyText, by generation: Int, purpose: Endorsement.Purpose = .response, until: Int64 = 86_400_000,
        signer: SoftwareSigningKey? = nil
    ) throws -> SignedEndorsement {
        try SignedMessage(
            Endorsement(
                purpose: purpose, publicKey: name, expiration: AccessScene.after(until), hsm: identity,
                generation: events[generation].payload.id), signedBy: signer ?? keys[generation])
    }
}

private func list(_ bytes: [UInt8]) throws -> KeyEventList { try unsafe KeyEventList(parsing: bytes.span.bytes) }

@Suite struct KeyChainTests {
    @Test func theVectors() throws {
        let file = try vectors("hsm-keychain", as: File.self)
        let events = try list(Array(("[" + file.chain.map(\.entry).joined(separator: ",") + "]").utf8))
        let identity = try #require(DigestText(file.hsmIdentity))
        let now = try time("2026-01-02T03:00:00.000Z")
        let chain = try KeyChain(events, identity: identity, window: KeyChain.Window.client, now: now)
        #expect(events.events.map { chain.knows($0.payload.id) } == [false, false, true, true])
        for vector in file.authorizations {
            let record = try SignedEndorsement(parsing: Array(vector.record.utf8))
            let until = try? chain.check(
                record, of: record.payload.publicKey, for: record.payload.purpose, now: now)
            #expect((until != nil) == (vector.generation >= 2), "generation \(vector.generation)")
            if vector.generation == 2 {
                #expect(try until == min(record.payload.expiration, time("2026-01-02T14:01:00.000Z")))
            }
            let wrong: Endorsement.Purpose = record.payload.purpose == .access ? .response : .access
            #expect(throws: KeyChainError.self) {
                try chain.check(record, of: record.payload.publicKey, for: wrong, now: now)
            }
        }
        // Sooner, generation 0 still counts, and generation 1 never does.
        let early = try time("2026-01-01T22:00:00.000Z")
        let before = try KeyChain(
            list(Array(("[" + file.chain.prefix(3).map(\.entry).joined(separator: ",") + "]").utf8)),
            identity: identity, window: KeyChain.Window.client, now: early)
        #expect(events.events.prefix(3).map { before.knows($0.payload.id) } == [true, false, true])
        #expect(throws: KeyChainError.unknownChain) {
            try KeyChain(events, identity: AccessScene.digest, window: 1, now: now)
        }
    }

    @Test func windowsEndAfterTheSuccessorsBirth() throws {
        let made = try MadeChain(3)
        let name = try SoftwareSigningKey.generate().publicKey
        let window = KeyChain.Window.client
        let events = try list(made.list)
        for (generation, end) in [(0, 3_600_000 + window), (1, 7_200_000 + window)] {
            for (moment, isGood) in [(end, true), (end + 1, false)] {
                let now = try AccessScene.after(moment)
                let chain = try KeyChain(events, identity: made.identity, window: window, now: now)
                let record = try made.endorsement(name, by: generation, until: end + 10)
                let until = try? chain.check(record, of: name, for: .response, now: now)
                #expect((until != nil) == isGood)
            }
        }
        // A chain that was loaded earlier judges by the time of the question.
        let chain = try KeyChain(events, identity: made.identity, window: window, now: AccessScene.after(7_200_000))
        let record = try made.endorsement(name, by: 0, until: 1 << 40)
        #expect(throws: KeyChainError.invalidGeneration(made.events[0].payload.id)) {
            try chain.check(record, of: name, for: .response, now: AccessScene.after(3_600_001 + window))
        }
        // The newest never ends.
        let newest = try made.endorsement(name, by: 2, until: 1 << 40)
        #expect(throws: Never.self) {
            try chain.check(newest, of: name, for: .response, now: AccessScene.after(1 << 39))
        }
    }

    @Test func endorsementsAreReadToTheLetter() throws {
        let made = try MadeChain(2)
        let now = try AccessScene.after(4_000_000)
        let chain = try KeyChain(list(made.list), identity: made.identity, window: 1 << 30, now: now)
        let name = try SoftwareSigningKey.generate().publicKey
        let other = try SoftwareSigningKey.generate().publicKey
        func error(_ record: SignedEndorsement, _ name: PublicKeyText) -> KeyChainError? {
            do throws(KeyChainError) {
                _ = try chain.check(record, of: name, for: .response, now: now)
                return nil
            } catch { return error }
        }
        #expect(try error(made.endorsement(name, by: 1), name) == nil)
        #expect(try error(made.endorsement(name, by: 1), other) == .otherKey)
        #expect(try error(made.endorsement(name, by: 1, signer: made.keys[0]), name) == .wrongSignature)
        #expect(try error(made.endorsement(name, by: 1, purpose: .access), name) == .wrongPurpose)
        #expect(
            try error(made.endorsement(name, by: 1, until: 3_999_999), name)
                == .expired(AccessScene.after(3_999_999)))
        #expect(try error(MadeChain(1).endorsement(name, by: 0), name) == .otherChain)
    }

    @Test func brokenChains() throws {
        let now = try AccessScene.after(100_000_000)
        func flaw(_ made: MadeChain) throws -> KeyChainError.Flaw? {
            do throws(KeyChainError) {
                let events = try? list(made.list)
                guard let events else { return nil }
                _ = try KeyChain(events, identity: made.identity, window: 1 << 40, now: now)
                return nil
            } catch {
                guard case .broken(_, let flaw) = error else { return nil }
                return flaw
            }
        }
        let good = try MadeChain(3)
        #expect(try flaw(good) == nil)
        var made = good
        made.events.remove(at: 1)
        #expect(try flaw(made) == .sequence)
        made = good
        made.events.append(made.events[2])
        #expect(try flaw(made) == .sequence)
        made = try MadeChain(2)
        made.keys.append(try .generate())
        try made.append(2, at: 3_600_000)  // as old as the one before
        #expect(try flaw(made) == .time)
        made.events.removeLast()
        try made.append(2, at: 100_060_001)
        #expect(try flaw(made) == .time)
        made.events.removeLast()
        try made.append(2, at: 9_000_000, purpose: "something-else")
        #expect(try flaw(made) == .purpose)
        made.events.removeLast()
        let stranger = try SoftwareSigningKey.generate()
        try made.append(2, at: 9_000_000, key: stranger, signer: stranger)
        #expect(try flaw(made) == .commitment)
        made.events.removeLast()
        try made.append(2, at: 9_000_000, signer: stranger)
        #expect(try flaw(made) == .signature)
        made.events.removeLast()
        try made.append(2, at: 9_000_000, previous: .some(made.events[0].payload.id))
        #expect(try flaw(made) == .previous)
        // Two chains in one list: the stranger's flaws are not ours.
        made.events.removeLast()
        var both = good
        both.events += made.events + made.events
        #expect(try flaw(both) == nil)
        // A changed character anywhere.
        let text = good.list.text
        for offset in stride(from: 10, to: text.utf8.count, by: 37) {
            var bytes = Array(text.utf8)
            bytes[offset] = bytes[offset] == UInt8(ascii: "b") ? UInt8(ascii: "c") : UInt8(ascii: "b")
            guard bytes != good.list, let events = try? list(bytes) else { continue }
            // An event of another chain is as good as none: a service can always withhold the newest.
            guard events.events.allSatisfy({ $0.payload.prefix == good.identity }) else { continue }
            #expect(throws: KeyChainError.self, "\(offset)") {
                try KeyChain(events, identity: good.identity, window: 1 << 40, now: now)
            }
        }
    }
}

@Suite struct EndorsedServerKeysTests {
    private final class Service: KeyService {
        struct State {
            var chain: MadeChain
            var records: [PublicKeyText: [UInt8]] = [:]
            var fetches = 0
        }
        let state: Mutex<State>
        init(_ chain: MadeChain) { state = Mutex(State(chain: chain)) }
        func keyEvents() async throws -> [UInt8] {
            state.withLock {
                $0.fetches += 1
                return $0.chain.list
            }
        }
        func endorsement(of name: PublicKeyText) async throws -> [UInt8]? {
            state.withLock {
                $0.fetches += 1
                return $0.records[name]
            }
        }
        func endorse(_ name: PublicKeyText, by generation: Int, until: Int64 = 86_400_000) throws {
            try state.withLock { $0.records[name] = try $0.chain.endorsement(name, by: generation, until: until).bytes }
        }
        var fetches: Int { state.withLock { $0.fetches } }
    }

    @Test func keysAreVerifiedOnceAndKept() async throws {
        let service = try Service(MadeChain(2))
        let name = try SoftwareSigningKey.generate().publicKey
        try service.endorse(name, by: 1, until: 4_100_000)
        let identity = service.state.withLock { $0.chain.identity }
        let keys = EndorsedServerKeys(trusting: identity, from: service)
        let now = try AccessScene.after(4_000_000)
        for _ in 0..<5 { #expect(try await keys.key(named: name, for: .response, now: now)?.text == name) }
        #expect(service.fetches == 2)
        #expect(try await keys.key(named: name, for: .access, now: now) == nil)
        // Over.
        #expect(try await keys.key(named: name, for: .response, now: AccessScene.after(4_100_001)) == nil)
        // Unknown.
        let stranger = try SoftwareSigningKey.generate().publicKey
        #expect(try await keys.key(named: stranger, for: .response, now: now) == nil)
    }

    @Test func aTaintBecomesKnown() async throws {
        let service = try Service(MadeChain(2))
        let name = try SoftwareSigningKey.generate().publicKey
        try service.endorse(name, by: 1)
        let identity = service.state.withLock { $0.chain.identity }
        let keys = EndorsedServerKeys(trusting: identity, from: service, maximumAge: .seconds(60))
        #expect(try await keys.key(named: name, for: .response, now: AccessScene.after(4_000_000)) != nil)
        try service.state.withLock { state in
            state.chain.keys.append(try .generate())
            try state.chain.append(2, taint: true, at: 4_010_000)
        }
        // At the latest when the chain is too old.
        #expect(try await keys.key(named: name, for: .response, now: AccessScene.after(4_060_001)) == nil)
        // Or as soon as a key of the new generation is met.
        let other = try SoftwareSigningKey.generate().publicKey
        try service.endorse(other, by: 2)
        let quick = EndorsedServerKeys(trusting: identity, from: service)
        #expect(try await quick.key(named: other, for: .response, now: AccessScene.after(4_020_000)) != nil)
        #expect(try await quick.key(named: name, for: .response, now: AccessScene.after(4_020_000)) == nil)
    }

    @Test func floodsOfNamesEnd() async throws {
        let service = try Service(MadeChain(1))
        let name = try SoftwareSigningKey.generate().publicKey
        try service.endorse(name, by: 0)
        let identity = service.state.withLock { $0.chain.identity }
        let keys = EndorsedServerKeys(trusting: identity, from: service)
        let now = try AccessScene.after(1000)
        #expect(try await keys.key(named: name, for: .response, now: now) != nil)
        let stranger = try SoftwareSigningKey.generate().publicKey
        var refused = 0
        for _ in 0..<200 {
            do { _ = try await keys.key(named: stranger, for: .response, now: now) } catch {
                refused += error as? KeyChainError == .tooManyLookups ? 1 : 0
            }
        }
        #expect(refused > 100 && service.fetches < 80)
        // What is known needs no look-up.
        #expect(try await keys.key(named: name, for: .response, now: now) != nil)
        #expect(try await keys.key(named: stranger, for: .response, now: AccessScene.after(20_000)) == nil)
    }
}
