internal import Holdfast
internal import HoldfastCommand

extension Chapter {
    static let recovery = Chapter(
        title: "The passcode is lost",
        steps: [
            Step("recovered with the phrase") { tour in
                let app = try tour.openedApp()
                await app.lock.forceLock()
                let passcode = try Tour.secret(Samples.thirdPasscode)
                let wasAltered = try tour.withTypedPhrase { phrase in
                    try app.vault.recover(phrase: phrase, newPasscode: passcode).headerWasAltered
                }
                try tour.expect(!wasAltered, "the header is said to have been altered")
                tour.passcode = Samples.thirdPasscode
                return "the passcode is \"\(tour.passcode)\" now"
            },
            Step("opened with the new passcode") { tour in
                let app = try tour.openedApp()
                await app.lock.forceLock()
                try await tour.unlock(app, with: tour.passcode)
                return "\(Format.grouped(try tour.compareAll(app.vault))) bytes are the same"
            },
        ])
}

extension Tour {
    /// The phrase as an owner types it from the sheet.
    fileprivate func withTypedPhrase<R>(_ body: (borrowing RecoveryPhrase) throws -> R) throws -> R {
        guard phrase != nil, let typed = try phrase?.withText({ try SecretBytes(copying: $0) }) else {
            throw TourFailure(description: "there is no phrase")
        }
        return try body(RecoveryPhrase(parsing: typed))
    }
}
