internal import Holdfast
internal import HoldfastCommand

extension Chapter {
    static let openCompartment = Chapter(
        title: "Open compartment",
        steps: [
            Step("wrote while locked") { tour in
                let app = try tour.openedApp()
                await app.lock.forceLock()
                try app.vault.open.put(Tour.secret(note.text), for: note.name, in: note.collection)
                try app.vault.open.withValue(for: note.name, in: note.collection) { bytes in
                    try tour.expect(bytes.byteCount == note.text.utf8.count, "another value came back")
                }
                return "\"\(note.name)\", and read it back: no passcode, assurance none"
            },
            Step("sealed what the locked app cannot read") { tour in
                let open = try tour.openedApp().vault.open
                try open.drop(Tour.secret(report.text), for: report.name, in: report.collection)
                let sealed = try open.records().filter(\.isSealed)
                try tour.expect(sealed.count == 1, "\(sealed.count) items are sealed")
                let refusal = try await tour.expectRefusal(.locked, "reading it back") {
                    try open.withValue(for: sealed[0].name, in: "") { _ in }
                }
                return refusal.reason
            },
            Step("unlocked, and found both in the inbox") { tour in
                let app = try tour.openedApp()
                try await tour.unlock(app, with: tour.passcode)
                let items = try app.vault.inbox()
                try tour.expect(Set(items.map(\.originalName)) == [note.name, report.name], "\(items.count) items")
                try tour.expect(app.vault.open.records().isEmpty, "the compartment was not emptied")
                for item in items {
                    tour.show(
                        "\"\(item.name)\" for \"\(item.originalCollection)\", \(item.wasSealed ? "sealed" : "open")")
                }
                return Format.count(items.count, "item")
            },
            Step("kept them from other programs") { tour in
                let vault = try tour.openedApp().vault
                try await tour.expectRefusal(.unconfirmed, "handing out an item") {
                    try vault.withConfirmedValue(for: note.name, in: Vault.inboxCollection) { _ in }
                }
                return "not confirmed by the owner yet"
            },
            Step("accepted one and rejected the other") { tour in
                let vault = try tour.openedApp().vault
                let place = try vault.confirm(note.name)
                try vault.reject(report.name)
                try vault.withConfirmedValue(for: place.name, in: place.collection) { bytes in
                    try tour.expect(bytes.byteCount == note.text.utf8.count, "another value came back")
                }
                try tour.expect(vault.inbox().isEmpty, "the inbox is not empty")
                try vault.delete(place.name, in: place.collection)
                return "\"\(place.name)\" was a record of \"\(place.collection)\""
            },
        ])

    private static let note = (name: "parcel", collection: "errands", text: "left with the neighbours")
    private static let report = (name: "crash report", collection: "reports", text: "what the app saw before it ended")
}
