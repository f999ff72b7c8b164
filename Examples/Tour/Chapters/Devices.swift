internal import BetterAuth
internal import BetterAuthMessages
internal import Holdfast
internal import HoldfastCommand

extension Chapter {
    static let devices = Chapter(
        title: "A second device, and the way back",
        steps: [
            Step("linked a second home") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let home = try ScratchVault(at: tour.scratch + "/second")
                let second = TourIdentity.client(home.vault, nil, identity.servers, identity.wire)
                (identity.secondHome, identity.second) = (home, second)
                let container = try await second.makeLinkContainer(for: identity.account().identity)
                let device = try await identity.first.link(container, proof: tour.prove())
                _ = try await second.openSession()
                return "\(container.bytes.count) bytes from hand to hand, and the passcode; device \(device.short)"
            },
            Step("refused one without the owner's proof") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let vault = try tour.openedApp().vault
                let error = try await tour.expectRefusal(.wrongPasscode, "a proof by guessing") {
                    let guess = try Tour.secret("whoever sits here")
                    let proof = try vault.prove(passcode: guess, spending: vault.burnAttempt())
                    try await identity.first.deleteAccount(proof: proof)
                }
                return "an open vault is not enough: \(error.reason)"
            },
            Step("unlinked it") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let second = try identity.secondDevice()
                guard let device = try await second.credentials().account?.device else {
                    throw TourFailure(description: "the second home has no identity")
                }
                try await identity.first.unlink(device, proof: tour.prove())
                let refusal = try await tour.expectIdentityRefusal(.refused, "an unlinked device") {
                    _ = try await second.openSession()
                }
                return refusal.failure?.words ?? refusal.reason
            },
            Step("replaced the recovery phrase") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let hash = try identity.newPhrase()
                try await identity.first.changeRecovery(to: hash, proof: tour.prove())
                return "the first one is worth nothing from now on"
            },
            Step("recognised the vault's phrase in its place") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let vault = try tour.openedApp().vault
                try identity.withTypedPhrase { phrase in
                    switch try phrase.asRecoveryPhrase() {
                    case .none: throw TourFailure(description: "the phrase is not of 24 words")
                    case .some(let phrase):
                        try vault.setIdentityPhrase(phrase)
                        try tour.expect(!vault.isVaultPhrase(phrase), "the two phrases are not told apart")
                    }
                }
                guard let typed = try tour.phrase?.withText({ try SecretBytes(copying: $0) }) else {
                    throw TourFailure(description: "there is no phrase of the vault")
                }
                do throws(CommandError) {
                    try IdentityWords.refuseVaultPhrase(try identityCall { try IdentityPhrase(parsing: typed) }, vault)
                } catch { return "\"\(error.message)\"" }
                throw TourFailure(description: "the vault's phrase was not recognised")
            },
            Step("named a word that is misspelt") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let words = try identity.words()
                let typed = try Tour.secret((words[..<6] + ["holdfast"] + words[7...]).joined(separator: " "))
                do throws(RecoveryPhraseError) {
                    _ = try IdentityPhrase(parsing: typed)
                } catch { return "\"\(CommandError(error).message)\"" }
                throw TourFailure(description: "a word that is in no list was taken")
            },
            Step("drilled three words, offline") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let spots = try identity.withTypedPhrase { phrase in
                    switch try phrase.asRecoveryPhrase() {
                    case .none: [SpotCheck]()
                    case .some(let phrase): try SpotCheck.make(for: phrase)
                    }
                }
                guard let spot = spots.first else { throw TourFailure(description: "there is no drill") }
                let words = try identity.words()
                let right = try Tour.secret(spot.positions.map { words[Int($0) - 1] }.joined(separator: " "))
                try tour.expect(spot.isMet(by: right), "the right words do not pass")
                try tour.expect(!spot.isMet(by: Tour.secret("abandon abandon abandon")), "wrong words pass")
                var drills = DrillState.begun(.now, spots: spots)
                drills.note(passed: true, .now)
                try VaultIdentity.setDrills(drills, in: tour.openedApp().vault)
                let places = spot.positions.map { "\($0)" }.joined(separator: ", ")
                return "words \(places); the next drill is in \(try await identity.drillDays()) days"
            },
            Step("recovered on the second home") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let second = try identity.secondDevice()
                let name = try await identity.account().identity
                let usedUp = identity.recoveryKeys[0]
                let key = try identity.withTypedPhrase { try $0.recoveryKey() }
                let successor = try identity.newPhrase()
                let old = try await tour.expectIdentityRefusal(.refused, "the first phrase") {
                    _ = try await second.recoverAccount(name, with: usedUp, successor: successor)
                }
                let account = try await second.recoverAccount(name, with: key, successor: successor)
                let gone = try await tour.expectIdentityRefusal(.chainUnknown, "the first device") {
                    try await identity.first.rotate()
                }
                tour.show("with the first phrase: \(old.failure?.words ?? old.reason)")
                tour.show("the first device: \(gone.reason)")
                return "the same identity, device \(account.device.short)"
            },
            Step("deleted the account") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let second = try identity.secondDevice()
                guard let home = identity.secondHome?.vault else {
                    throw TourFailure(description: "there is no second home")
                }
                let passcode = try Tour.secret(Samples.firstPasscode)
                let proof = try home.prove(passcode: passcode, spending: home.burnAttempt())
                try await second.deleteAccount(proof: proof)
                let state = try await second.credentials().state
                try tour.expect(state == .ready, "something of the account is left")
                let refusal = try await identity.wire.repeatLast(CreateAccount.path)
                try await identity.first.erase(proof: tour.prove())
                try tour.openedApp().vault.forgetIdentityPhrase()
                return "made again as it was recorded: \(refusal.words)"
            },
            Step("ended the servers") { tour in
                guard let identity = tour.identity else { return Tour.noServer }
                let codes = identity.servers.end()
                tour.identity = nil
                try tour.expect(codes.allSatisfy { $0 == 0 }, "they ended with \(codes)")
                return "\(codes.count) processes ended in order"
            },
        ])
}

extension TourIdentity {
    fileprivate func secondDevice() throws -> VaultIdentity {
        guard let second else { throw TourFailure(description: "there is no second device") }
        return second
    }

    /// The words on the sheet.
    fileprivate func words() throws -> [String] {
        try withTypedPhrase { phrase in
            phrase.withText { text in
                (0..<text.byteCount).map { text.byte(at: $0) }.split(separator: UInt8(ascii: " ")).map {
                    String(decoding: $0, as: UTF8.self)
                }
            }
        }
    }

    fileprivate func drillDays() async throws -> Int64 {
        let drills = try await first.credentials().drills
        guard let due = drills.due else { throw TourFailure(description: "no drill is due") }
        return (due.milliseconds - Timestamp.now.milliseconds + 43_200_000) / 86_400_000
    }
}
