internal import BetterAuth
internal import BetterAuthMessages
internal import Holdfast

extension Chapter {
    static let identity = Chapter(
        title: "An identity at a server",
        steps: [
            Step("started a server and two app servers") { tour in
                guard let program = TourProcess.program("holdfast-server") else {
                    return "holdfast-server is not beside this program: no identity was tried"
                }
                let app = try tour.openedApp()
                if !app.vault.isUnlocked { try await tour.unlock(app, with: tour.passcode) }
                let identity = try TourIdentity(program, tour)
                tour.identity = identity
                let servers = identity.servers
                for server in [servers.keys, servers.auth] + servers.apps {
                    tour.show("\(server.address)  \(server.name)")
                }
                return "\(servers.count) processes; key chain \(servers.chain.short) vouches for their keys"
            },
            Step("made an account") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let recovery = try identity.newPhrase()
                let account = try await identity.first.createAccount(recovery: recovery)
                tour.show("identity \(account.identity)")
                tour.show("device   \(account.device)")
                let place = account.current.place == .chip ? "a software TPM" : "the vault (swtpm is not installed)"
                return "24 words of its own; the device's keys are in \(place)"
            },
            Step("opened a session and refreshed it") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let opened = try await identity.first.openSession()
                let session = try await identity.first.refreshSession()
                try tour.expect(session.current.publicKey == opened.next.publicKey, "the session's key did not move on")
                let minutes = (session.expiry.milliseconds - Timestamp.now.milliseconds + 30_000) / 60_000
                return "a token for \(minutes) min, for key \(session.current.publicKey.short)"
            },
            Step("asked both app servers at once") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let answers = try await identity.askApps()
                for answer in answers { tour.show(String(decoding: answer.bytes, as: UTF8.self)) }
                try tour.expect(Set(answers.map(\.bytes)).count == 2, "both answers are the same")
                return "two requests side by side, both replies verified"
            },
            Step("saw a recorded request refused") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let refusal = try await identity.wire.repeatLast("/foo/bar")
                try tour.expect(refusal.code == .replayed, refusal.words)
                return refusal.words
            },
            Step("saw a used challenge refused") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let account = try await identity.account()
                let challenge = try await identity.challenge(account.identity)
                // The same challenge twice, each time in a message that is signed anew.
                let token = try await identity.wire.send(identity.answer(challenge, account, account.current))
                guard case .response = try Reply<CreateSession>(parsing: token.body) else {
                    throw TourFailure(description: "the challenge was refused at its first use")
                }
                let again = try identity.answer(challenge, account, account.current)
                let refusal = try await identity.wire.refusal(of: again)
                try tour.expect(refusal.code == .unknownChallenge, refusal.words)
                return refusal.words
            },
            Step("rotated the device's key") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let before = try await identity.account()
                try await identity.first.rotate()
                let after = try await identity.account()
                try tour.expect(
                    after.current.publicKey == before.next.publicKey, "the next key did not come into use")
                let message = try identity.answer(
                    await identity.challenge(before.identity), before, before.current)
                let refusal = try await identity.wire.refusal(of: message)
                try tour.expect(refusal.code == .wrongSignature, refusal.words)
                return "the old key is refused: \(refusal.words)"
            },
        ])
}

extension TourIdentity {
    /// One request to each app server, none waiting for another.
    fileprivate func askApps() async throws -> [ApplicationData] {
        let body = try ApplicationData(json: #"{"foo":"a","bar":"b"}"#)
        let targets = servers.apps.compactMap { app in
            PublicKeyText(app.key).map { (address: app.address, trust: ResponseTrust.pinned([$0])) }
        }
        return try await withThrowingTaskGroup(of: ApplicationData.self) { [first] group in
            for target in targets {
                group.addTask {
                    try await first.request(
                        "/foo/bar", at: target.address, body, answer: ApplicationData.self, trust: target.trust)
                }
            }
            var answers: [ApplicationData] = []
            for try await answer in group { answers.append(answer) }
            return answers.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        }
    }

    /// A challenge of the server, as a device asks for it.
    fileprivate func challenge(_ identity: IdentityID) async throws -> NonceText {
        let request = try RequestSession.Request(nonce: .random(), identity: identity)
        let reply = try await wire.send(
            TransportRequest(
                servers.auth.address, RequestSession.path, body: UnsignedMessage(request).bytes,
                limit: MessageLimits.message))
        guard case .response(let message) = try Reply<RequestSession>(parsing: reply.body) else {
            throw TourFailure(description: "the server gives no challenge")
        }
        return message.payload.body.challenge
    }

    /// The answer to a challenge, signed by a device's key.
    fileprivate func answer(
        _ challenge: NonceText, _ account: Account, _ key: KeyRecord
    ) throws -> TransportRequest {
        let session = try (SoftwareSigningKey.generate(), SoftwareSigningKey.generate())
        let request = CreateSession.Request(
            nonce: try .random(), publicKey: session.0.publicKey,
            rotationHash: Derivations.standard.rotationHash(of: session.1.publicKey), device: account.device,
            challenge: challenge)
        let signer = try ChipDeviceKeys(chip?.keys, authority: authority).signer(key)
        let message = try SignedMessage(request) { bytes throws in try signer.sign(bytes) }
        return TransportRequest(
            servers.auth.address, CreateSession.path, body: message.bytes, limit: MessageLimits.message)
    }
}
