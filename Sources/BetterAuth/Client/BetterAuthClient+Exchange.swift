public import BetterAuthMessages

/// How an exchange went. Only `confirmed` was said by the server for certain.
enum ExchangeResult<Body: Sendable>: Sendable {
    /// The signed answer to this very request.
    case confirmed(Body)
    /// An unsigned refusal in the server's form.
    case refused(ServerFailure)
    /// A refusal in another form, with a status that says no: by a proxy, or whatever else stands there.
    case rejected(IdentityError)
    /// No answer, or none to be believed.
    case lost(IdentityError)
    /// The server cannot be reached, or cannot prove its identity.
    case absent(IdentityError)

    var event: RotationSettlement.Event {
        switch self {
        case .confirmed: .confirmed
        case .refused, .rejected: .refused
        case .lost: .lost
        case .absent: .absent
        }
    }

    /// Why it was not confirmed.
    var failure: IdentityError? {
        switch self {
        case .confirmed: nil
        case .refused(let failure): .refused(failure)
        case .rejected(let error), .lost(let error), .absent(let error): error
        }
    }
}

extension BetterAuthClient {
    /// Sends a signed request as it is and verifies the answer.
    func exchange<Kind: RoutedExchange>(
        _ kind: Kind.Type, _ message: [UInt8], _ credentials: inout Credentials
    ) async -> ExchangeResult<Kind.ResponseBody> {
        let nonce: NonceText
        do throws(MessageError) {
            nonce = try SignedMessage<Kind.Request>(parsing: message).payload.nonce
        } catch { return .lost(.damaged("a request that was written down is not one")) }
        return await exchange(kind, message, nonce: nonce, &credentials)
    }

    func exchange<Kind: RoutedExchange>(
        _ kind: Kind.Type, _ message: [UInt8], nonce: NonceText, _ credentials: inout Credentials
    ) async -> ExchangeResult<Kind.ResponseBody> {
        let trusted: TrustedKeys
        do throws(IdentityError) {
            trusted = try await trustedKeys(of: server, trust, &credentials)
        } catch { return .lost(error) }
        let request = TransportRequest(server, Kind.path, body: message, limit: MessageLimits.message)
        return await answer(kind, to: request, nonce: nonce, trusted)
    }

    /// Sends a request and verifies the answer: that it is one, then the key, the signature, and the nonce.
    nonisolated func answer<Kind: Exchange>(
        _ kind: Kind.Type, to request: TransportRequest, nonce: NonceText, _ trusted: TrustedKeys
    ) async -> ExchangeResult<Kind.ResponseBody> {
        let answer: TransportReply
        do throws(TransportError) {
            answer = try await transport.send(request)
        } catch {
            let failure = IdentityError(unanswered: request, error)
            switch error {
            case .unreachable, .untrusted: return .absent(failure)
            case .timedOut, .tooLarge, .broken: return .lost(failure)
            }
        }
        let reply: Reply<Kind>
        do throws(MessageError) {
            reply = try Reply<Kind>(parsing: answer.body)
        } catch {
            // Statuses say little (protocol.md 9.4), but a yes without a body of the protocol is none.
            return answer.status >= 400
                ? .rejected(IdentityError(rejected: request, answer))
                : .lost(IdentityError(malformed: request, answer, error))
        }
        switch reply {
        case .failure(let failure): return .refused(failure)
        case .response(let message):
            do throws(IdentityError) {
                let key = try await trusted.key(named: message.payload.serverIdentity, now: now())
                guard key.isValid(message) else {
                    throw IdentityError(.invalidReply, "the signature of the server's answer is wrong")
                }
            } catch { return .lost(error) }
            guard message.payload.nonce == nonce else {
                return .lost(IdentityError(.invalidReply, "the server answered another request (BA203)"))
            }
            return .confirmed(message.payload.body)
        }
    }
}

/// The response keys that count for one server.
struct TrustedKeys: Sendable {
    enum Keys: Sendable {
        case these([PublicKeyText])
        case source(any ServerKeySource)
    }

    let keys: Keys

    /// The key of this name.
    /// - Throws: ``IdentityError/Code/unknownServerKey``.
    func key(named name: PublicKeyText, now: Timestamp) async throws(IdentityError) -> VerificationKey {
        let unknown = IdentityError(
            .unknownServerKey, "the answer was signed with a key that is not known to be the server's (\(name))")
        switch keys {
        case .these(let names):
            guard names.contains(name), let key = try? VerificationKey(name) else { throw unknown }
            return key
        case .source(let source):
            let found: VerificationKey?
            do { found = try await source.key(named: name, for: .response, now: now) } catch {
                throw IdentityError(.unknownServerKey, "the server's key could not be verified (\(error))")
            }
            guard let found else { throw unknown }
            return found
        }
    }
}

extension BetterAuthClient {
    /// Where examples publish the key (protocol.md 10.1).
    static let responseKeyPath = "/key/response"

    /// The response keys of a server; at the first contact this asks the server itself, where that is allowed.
    func trustedKeys(
        of server: ServerAddress, _ trust: ResponseTrust, _ credentials: inout Credentials
    ) async throws(IdentityError) -> TrustedKeys {
        switch trust {
        case .pinned(let keys): return TrustedKeys(keys: .these(keys))
        case .source(let source): return TrustedKeys(keys: .source(source))
        case .firstUse:
            if let known = credentials.firstKeys.first(where: { $0.server == server.description }) {
                return TrustedKeys(keys: .these([known.key]))
            }
            let key = try await askForKey(server)
            guard credentials.firstKeys.count < 255 else {
                throw IdentityError(.tooLarge, "this identity remembers the keys of 255 servers; that is the most")
            }
            let old = credentials
            credentials.firstKeys.append(FirstKey(server: server.description, key: key))
            try save(credentials, insteadOf: old)
            notify(.trustedFirstKey(key, server: server.description))
            return TrustedKeys(keys: .these([key]))
        }
    }

    private func askForKey(_ server: ServerAddress) async throws(IdentityError) -> PublicKeyText {
        let request = TransportRequest(server, BetterAuthClient.responseKeyPath, body: Array("{}".utf8), limit: 1024)
        let reply: TransportReply
        do throws(TransportError) { reply = try await transport.send(request) } catch {
            throw IdentityError(unanswered: request, error)
        }
        let text = String(decoding: reply.body, as: UTF8.self)
        guard let key = PublicKeyText(text.hasSuffix("\n") ? String(text.dropLast()) : text),
            (try? VerificationKey(key)) != nil
        else { throw IdentityError(noKey: request, reply) }
        return key
    }
}

/// How a client knows a server's response key.
public enum ResponseTrust: Sendable {
    /// These, and no others.
    case pinned([PublicKeyText])
    /// Whatever a source vouches for: a key chain.
    case source(any ServerKeySource)
    /// The key that `/key/response` names at the first contact, and no other from then on. An attacker between client
    /// and server at that moment can impersonate the server for ever; the user is warned.
    case firstUse
}

/// Something that the owner should hear of, although it is no failure.
public enum IdentityNotice: Sendable, Hashable {
    /// A server's response key was believed because it was the first one.
    case trustedFirstKey(PublicKeyText, server: String)
    /// An operation from earlier has come to its end: it took effect.
    case settled(RotationEffect)
    /// Of several requests from earlier one took effect, and it cannot be told which.
    case settledOneOf([RotationEffect])
    /// The server did not want an operation, or it did not get through. It did not take effect and never will.
    case abandoned(RotationEffect)
    /// An account that was being created, recovered or linked is there.
    case confirmed(StagedAccount.Kind)
}
