internal import Holdfast
internal import HoldfastCommand

extension Chapter {
    static let creation = Chapter(
        title: "A new vault",
        steps: [
            Step("created") { tour in
                let passcode = try Tour.secret(tour.passcode)
                let phrase = try HoldfastApp.create(at: tour.home, passcode: passcode)
                try tour.show(phrase)
                tour.phrase = consume phrase
                let app = try HoldfastApp(at: tour.home)
                tour.app = app
                let costs = try app.vault.status().derivation
                return "Argon2id, \(costs?.passes ?? 0) passes over \((costs?.memoryKiB ?? 0) >> 10) MiB"
            },
            Step("shut until its owner is there") { tour in
                let app = try tour.openedApp()
                try await tour.expectRefusal(.locked, "listing the records") { _ = try app.vault.records() }
                return "listing is refused"
            },
            Step("opened with the passcode") { tour in
                let app = try tour.openedApp()
                try await tour.unlock(app, with: tour.passcode)
                try tour.expect(app.vault.isUnlocked, "the vault is still locked")
                return "\"\(tour.passcode)\""
            },
        ])
}

extension Tour {
    /// Shows the phrase below the step. On standard output for once: this vault is gone in a moment.
    fileprivate func show(_ phrase: borrowing RecoveryPhrase) throws {
        show("The recovery phrase, which an owner writes on paper:")
        let text = try phrase.withText { text throws(CommandError) in
            var lines: [UInt8] = []
            try PhraseSheet(text).lend { sheet in
                for offset in 0..<sheet.byteCount { lines.append(sheet.byte(at: offset)) }
            }
            return lines
        }
        for line in text.split(separator: UInt8(ascii: "\n")) { show("  " + String(decoding: line, as: UTF8.self)) }
    }
}
