public import BetterAuthMessages

/// Where a deployment publishes its key chain and its endorsements (protocol.md 10.5).
public protocol KeyService: Sendable {
    /// The answer to `GET /hsm/keys`: every event of every chain.
    func keyEvents() async throws -> [UInt8]
    /// The answer to `GET /keys/<name>`: one record; nil when there is none.
    func endorsement(of name: PublicKeyText) async throws -> [UInt8]?
}

/// Keys that a chain endorses, from one identity that the program was given. Everything is verified here, so the key
/// service and the way to it need not be trusted; they can only withhold.
public actor EndorsedServerKeys: ServerKeySource {
    /// For who verifies responses: 12 hours and a minute (protocol.md 10.4).
    public static let clientWindow = Duration.milliseconds(KeyChain.Window.client)
    /// For who verifies access tokens: 12 hours and a quarter.
    public static let appServerWindow = Duration.milliseconds(KeyChain.Window.appServer)

    private struct Endorsed {
        let key: VerificationKey
        let until: Timestamp
    }

    private struct Name: Hashable {
        let key: PublicKeyText
        let purpose: Endorsement.Purpose
    }

    private let identity: DigestText
    private let service: any KeyService
    private let window: Int64
    private let maximumAge: Int64
    private var chain: (value: KeyChain, loaded: Timestamp)?
    private var endorsed: [Name: Endorsed] = [:]
    private var lookups = Lookups()

    /// - Parameters:
    ///   - identity: The chain to trust: the id of its first event.
    ///   - service: Where it is published.
    ///   - window: How long endorsements outlive the generation that made them.
    ///   - maximumAge: After how long the chain is loaded anew, so that a tainted generation becomes known.
    public init(
        trusting identity: DigestText, from service: any KeyService, window: Duration = clientWindow,
        maximumAge: Duration = .seconds(600)
    ) {
        self.identity = identity
        self.service = service
        self.window = window.clampedMilliseconds
        self.maximumAge = max(0, maximumAge.clampedMilliseconds)
    }

    /// The key of this name, when the chain endorses it for this purpose now; nil when it does not.
    /// - Throws: What is wrong with the chain or its word, described in words; ``BetterAuthMessages/MessageError`` for
    ///   an an invalid answer; what the service throws.
    public func key(
        named name: PublicKeyText, for purpose: Endorsement.Purpose, now: Timestamp
    ) async throws -> VerificationKey? {
        let asked = Name(key: name, purpose: purpose)
        if isFresh(now), let known = endorsed[asked], now <= known.until { return known.key }
        endorsed[asked] = nil
        guard lookups.admit(now) else { throw KeyChainError.tooManyLookups }
        guard let bytes = try await service.endorsement(of: name) else { return nil }
        let record = try unsafe SignedEndorsement(record: bytes.span.bytes)
        let (chain, loaded) = try await current(knowing: record.payload.generation, now)
        let until: Timestamp
        do throws(KeyChainError) {
            until = try chain.check(record, of: name, for: purpose, now: now)
        } catch {
            switch error {
            case .expired, .invalidGeneration, .wrongPurpose: return nil
            default: throw error
            }
        }
        let key = try VerificationKey(name)
        // Another call may have loaded a later chain meanwhile, which was not asked.
        if self.chain?.loaded == loaded { endorsed[asked] = Endorsed(key: key, until: until) }
        return key
    }

    private func isFresh(_ now: Timestamp) -> Bool {
        guard let loaded = chain?.loaded else { return false }
        return (0...maximumAge).contains(now.milliseconds - loaded.milliseconds)
    }

    /// The chain, loaded anew where it is old or does not know the generation: that is also how a taint shows itself.
    private func current(
        knowing generation: DigestText, _ now: Timestamp
    ) async throws -> (value: KeyChain, loaded: Timestamp) {
        if isFresh(now), let chain, chain.value.knows(generation) { return chain }
        let bytes = try await service.keyEvents()
        let list = try unsafe KeyEventList(parsing: bytes.span.bytes)
        let loaded = try KeyChain(list, identity: identity, window: window, now: now)
        // What the chain said before counts no longer: each key is asked for again.
        endorsed = [:]
        chain = (loaded, now)
        return (loaded, now)
    }

    /// Names come from strangers: only so many of them cause work.
    private struct Lookups {
        private static let interval: Int64 = 10_000
        private static let most = 64
        private var start: Int64 = .min
        private var count = 0

        mutating func admit(_ now: Timestamp) -> Bool {
            if now.milliseconds / Lookups.interval != start {
                start = now.milliseconds / Lookups.interval
                count = 0
            }
            count += 1
            return count <= Lookups.most
        }
    }
}
