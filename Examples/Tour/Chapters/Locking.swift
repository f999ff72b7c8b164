internal import Holdfast
internal import HoldfastCommand

extension Chapter {
    static let locking = Chapter(
        title: "The lock",
        steps: [
            Step("locked") { tour in
                let app = try tour.openedApp()
                await app.lock.forceLock()
                let name = Samples.items[0].name
                try await tour.expectRefusal(.locked, "reading") {
                    try app.vault.withValue(for: name, in: Samples.items[0].collection) { _ in }
                }
                return "the keys are wiped, reading is refused"
            },
            Step("refused a wrong passcode") { tour in
                try await tour.expectWrong(Samples.wrongPasscode, tour.openedApp())
            },
            Step("opened again") { tour in
                let app = try tour.openedApp()
                try await tour.unlock(app, with: tour.passcode)
                let status = try app.vault.status()
                try tour.expect(
                    status.remainingAttempts == status.policy.attemptLimit, "a success gave no attempts back")
                return "all \(status.remainingAttempts) attempts are back"
            },
            Step("read everything back and compared") { tour in
                "\(Format.grouped(try tour.compareAll(tour.openedApp().vault))) bytes are the same"
            },
        ])
}
