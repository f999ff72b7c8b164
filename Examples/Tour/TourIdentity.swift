internal import BetterAuth
internal import BetterAuthMessages
internal import BetterAuthTransport
internal import Holdfast
internal import KeyStores
internal import Synchronization

/// What the chapters about the identity hand on to each other.
final class TourIdentity {
    let servers: TourServers
    let wire = TourWire()
    /// Where the keys of the first device are; nil where swtpm is not installed.
    let chip: TourChip?
    /// The device of the tour's own vault.
    let first: VaultIdentity
    /// What authorises its chip.
    let authority: VaultKeyAuthority
    /// Another device, with a vault of its own.
    var second: VaultIdentity?
    var secondHome: ScratchVault?
    /// What counts now, and what counted before.
    var phrase: IdentityPhrase?
    var recoveryKeys: [SoftwareSigningKey] = []

    init(_ program: String, _ tour: Tour) throws {
        servers = try TourServers(program, in: tour.scratch + "/servers", tour)
        chip = try TourChip(scratch: tour.scratch, name: "identity-tpm")
        authority = VaultKeyAuthority(try tour.openedApp().vault)
        first = TourIdentity.client(try tour.openedApp().vault, chip, servers, wire)
    }

    /// A client that trusts the key chain and nothing else.
    static func client(
        _ vault: Vault, _ chip: TourChip?, _ servers: TourServers, _ wire: TourWire
    ) -> VaultIdentity {
        let keys = HTTPKeyService(at: servers.keys.address, over: wire)
        let chipKeys = ChipDeviceKeys(chip?.keys, authority: VaultKeyAuthority(vault))
        return VaultIdentity(
            in: vault, keys: chipKeys, transport: wire, server: servers.auth.address,
            trust: .source(EndorsedServerKeys(trusting: servers.chain, from: keys)), now: { .now })
    }

    func account() async throws -> Account {
        guard let account = try await first.credentials().account else {
            throw TourFailure(description: "this device has no identity")
        }
        return account
    }

    /// A new recovery phrase and its key, as ``NewRecovery`` makes them.
    func newPhrase() throws -> RecoveryHash {
        let phrase = try IdentityPhrase.generate()
        let key = try phrase.recoveryKey()
        self.phrase = consume phrase
        recoveryKeys.append(key)
        return Derivations.standard.recoveryHash(of: key.publicKey)
    }

    /// The phrase as an owner types it from the sheet.
    func withTypedPhrase<R>(_ body: (borrowing IdentityPhrase) throws -> R) throws -> R {
        guard let typed = try phrase?.withText({ try SecretBytes(copying: $0) }) else {
            throw TourFailure(description: "there is no phrase")
        }
        return try body(IdentityPhrase(parsing: typed))
    }
}

/// A transport that remembers what was sent, so that a chapter can replay it as an eavesdropper would.
final class TourWire: Transport {
    private let inner = SystemTransport()
    private let sent = Mutex<[String: TransportRequest]>([:])

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportReply {
        sent.withLock { $0[request.path] = request }
        return try await inner.send(request)
    }

    /// Sends the last request to a path once more, to the same server.
    func repeatLast(_ path: String) async throws -> ServerFailure {
        guard let request = sent.withLock({ $0[path] }) else {
            throw TourFailure(description: "nothing was sent to \(path)")
        }
        return try await refusal(of: request)
    }

    /// Sends something that must be refused.
    func refusal(of request: TransportRequest) async throws -> ServerFailure {
        let reply = try await inner.send(request)
        guard let failure = unsafe ServerFailure(parsing: reply.body.span.bytes) else {
            throw TourFailure(description: "what must be refused at \(request.path) was not")
        }
        return failure
    }
}

extension ServerFailure {
    /// For people: the code and the server's words.
    var words: String { [codeText, message].compactMap(\.self).joined(separator: ", ") }
}

extension CESRText {
    /// Its beginning, for a line that has no room for all of it.
    var short: String { description.prefix(12) + "..." }
}

extension Tour {
    /// The proof that the owner is present, which someone who only finds the vault unlocked cannot give.
    func prove() throws -> Proof {
        let vault = try openedApp().vault
        let passcode = try Tour.secret(passcode)
        return try vault.prove(passcode: passcode, spending: vault.burnAttempt())
    }

    /// What a step says that finds no server.
    static let noServer = "nothing to try"

    /// Makes sure that an operation of an identity is refused, and returns why.
    @discardableResult
    func expectIdentityRefusal(
        _ code: IdentityError.Code, _ what: String, _ body: () async throws -> Void
    ) async throws -> IdentityError {
        let error: IdentityError = try await refusal(of: what, body)
        try expect(error.code == code, "\(what) gave \"\(error.reason)\" instead of \(code)")
        return error
    }
}
