internal import DeviceOwner
internal import Holdfast
internal import HoldfastCommand
internal import KeyStores

// An app as most begin: nothing is asked, and its user makes it ask for more. In a folder of its own, with its share in
// a file.
extension Chapter {
    static let ladder = Chapter(
        title: "An app without ceremony",
        steps: [
            Step("there at the first start, and nothing asked") { tour in
                let app = try await tour.start()
                try tour.expect(app.vault.isUnlocked, "the vault is not open")
                try app.vault.put(Tour.secret(Samples.items[1].text), for: Samples.items[1].name)
                try tour.expect(try app.protection.level == .device, "it does not stand at the device")
                return "no passcode and no words; lost with this device"
            },
            Step("there at the next start") { tour in
                let app = try await tour.start()
                try tour.expect(try app.vault.contains(Samples.items[1].name), "what was stored is not there")
                let isShown = await app.lock.snapshot.isLockScreenShown
                try tour.expect(!isShown, "a lock screen is shown")
                return "\"\(Samples.items[1].name)\""
            },
            Step("the switch goes back where nobody can be asked") { tour in
                let nobody = OwnerAuthenticator(Tour.noPlaces)
                let app = try await tour.start(nobody)
                let error: VaultError = try await tour.refusal(of: "the switch") { try await app.lock.requireOwner() }
                try tour.expect(try app.protection.level == .device, "the level changed")
                return error.reason
            },
            Step("a finger at each start") { tour in
                if let obstacle = TourSensor.obstacle { return "\(obstacle): no finger was tried" }
                let sensor = try TourSensor(tour, name: "ladder-sensor")
                try tour.expect(try sensor.enroll("owner"), "the finger could not be enrolled")
                let app = try await tour.start(sensor.authenticator)
                try await app.lock.requireOwner(sensor.prompts(with: "owner"))
                try app.vault.finishRekey()
                let next = try await tour.start(sensor.authenticator)
                try tour.expect(!next.vault.isUnlocked, "it opened without asking")
                try await next.lock.unlock(sensor.prompts(with: "stranger", "owner"))
                try tour.expect(try next.vault.contains(Samples.items[1].name), "what was stored is not there")
                // Back to the beginning of the ladder, for a machine without this sensor.
                try await next.lock.stopAsking(sensor.prompts(with: "owner"))
                try next.vault.finishRekey()
                return "a stranger's opens nothing, the owner's does; switched off again with it"
            },
            Step("a passcode, and 24 words") { tour in
                let app = try await tour.start(OwnerAuthenticator(Tour.noPlaces))
                try await app.lock.requirePasscode(Tour.secret(tour.passcode))
                try app.vault.finishRekey()
                let issue = try await app.lock.issueRecoveryPhrase()
                try await issue.confirm(proving: app.lock.prove(passcode: Tour.secret(tour.passcode)))
                try tour.expect(try app.protection.isRecoverable, "there is no phrase")
                let next = try await tour.start(OwnerAuthenticator(Tour.noPlaces))
                try tour.expect(!next.vault.isUnlocked, "it opened without asking")
                try await tour.unlock(next, with: tour.passcode)
                try tour.expect(try next.vault.contains(Samples.items[1].name), "what was stored is not there")
                return "asked at the next start; no longer lost with this device"
            },
        ])
}

extension Tour {
    /// The app of this chapter, started anew.
    fileprivate func start(_ authenticator: OwnerAuthenticator = .standard) async throws -> HoldfastApp {
        var settings = VaultSettings.app
        settings.profile = .standard
        settings.shareStores = { ShareStores.files(in: $0 + "/shares") }
        return try await HoldfastApp.start(scratch + "/easy", settings, authenticator: authenticator)
    }

    /// Where neither a sensor nor an account is.
    fileprivate static var noPlaces: OwnerAuthenticator.Places {
        var places = OwnerAuthenticator.Places()
        places.systemBus = BusAddress("unix:path=/nonexistent")
        places.passcodeRules = "/nonexistent"
        return places
    }
}
