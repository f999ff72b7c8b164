internal import Holdfast

extension Chapter {
    static let changingPasscode = Chapter(
        title: "Another passcode",
        steps: [
            Step("changed the passcode") { tour in
                let vault = try tour.openedApp().vault
                let old = try Tour.secret(tour.passcode)
                let new = try Tour.secret(Samples.secondPasscode)
                try vault.changePasscode(from: old, spending: vault.burnAttempt(), to: new)
                tour.passcode = Samples.secondPasscode
                return "now \"\(tour.passcode)\""
            },
            Step("refused the old one") { tour in
                let app = try tour.openedApp()
                await app.lock.forceLock()
                return try await tour.expectWrong(Samples.firstPasscode, app)
            },
            Step("opened with the new one") { tour in
                let app = try tour.openedApp()
                try await tour.unlock(app, with: tour.passcode)
                try tour.expect(app.vault.isUnlocked, "the vault is still locked")
                return "\"\(tour.passcode)\""
            },
        ])
}
