import Foundation
import Holdfast
import HoldfastUI
import TestSupport
import Testing

@MainActor @Suite(.patient) struct ItemChangesTests {
    private static let mail = VaultItem.ID(collection: "work", name: "mail")

    /// Two items, made as an app makes them.
    private func filled(_ scratch: Scratch) async throws -> ReadyModels {
        let models = try await scratch.open()
        let login = try ItemDraft(.login)
        try login.add(.text, "username", secret("ada"))
        try login.add(.secret, "password", secret("first word"))
        try login.add(.secret, "empty", secret(""))
        try login.add(.oneTimeCode, "code", secret("gezd gnbv gy3t qojq gezd gnbv gy3t qojq"))
        try login.setTags(" #office, two  words ,, ")
        try login.setNotes(secret("a note"))
        login.setFavourite(true)
        #expect(await models.vault.add(login, at: ItemChangesTests.mail) == nil)
        #expect(await models.vault.add(login, at: ItemChangesTests.mail) == .notFound, "a draft is stored once")
        let card = try ItemDraft(.card)
        try card.add(.date, "expires", secret("2031-12"))
        #expect(await models.vault.add(card, at: .init(collection: "home", name: "card")) == nil)
        #expect(try await models.vault.put(secret("x"), at: .init(collection: "home", name: "plain")) == nil)
        return models
    }

    @Test func `a new item has what was entered, and what cannot be stored is refused with its reason`() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let stored = try ItemStore(models.lock.app.vault).item("mail", in: "work")
        #expect(stored.kind == .login && stored.isFavourite && stored.tags == ["office", "two words"])
        #expect(stored.fields.map(\.label) == ["username", "password", "code"])
        let code = stored.withValue(of: stored.fields[2]) { text($0) }
        #expect(code.hasPrefix("otpauth://totp/") && code.contains("GEZDGNBVGY3TQOJQ"))
        let draft = try ItemDraft(.login)
        #expect(throws: ItemDraft.Refusal.code) { try draft.add(.oneTimeCode, "code", secret("not a key!")) }
        #expect(throws: ItemDraft.Refusal.date) { try draft.add(.date, "day", secret("tomorrow")) }
        #expect(throws: ItemDraft.Refusal.label) { try draft.add(.text, "", secret("x")) }
        #expect(throws: ItemDraft.Refusal.label) { try draft.setTags(String(repeating: "t", count: 65)) }
        #expect(await models.vault.add(draft, at: ItemChangesTests.mail) == .exists)
        let reserved = try ItemDraft(.note)
        #expect(await models.vault.add(reserved, at: .init(collection: ".holdfast", name: "a")) == .invalidName)
        #expect(ItemDraft.tags("a, #b ,\n,  c d ") == ["a", "b", "c d"])
    }

    @Test func `sections are favourites, kinds, collections and tags, and each narrows what is listed`() async throws {
        let scratch = try Scratch()
        let vault = try await filled(scratch).vault
        #expect(vault.items.map(\.name) == ["mail", "card", "plain"], "favourites come first")
        let sections = vault.sections.map(\.section)
        #expect(
            sections == [
                .all, .favourites, .kind(.login), .kind(.card), .kind(.value), .collection("home"),
                .collection("work"), .tag("office"), .tag("two words"),
            ])
        #expect(vault.sections.map(\.count) == [3, 1, 1, 1, 1, 2, 1, 1, 1])
        for (section, names) in [
            (VaultSection.favourites, ["mail"]), (.kind(.card), ["card"]), (.kind(.value), ["plain"]),
            (.collection("home"), ["card", "plain"]), (.tag("two words"), ["mail"]), (.all, ["mail", "card", "plain"]),
        ] {
            vault.section = section
            #expect(vault.items.map(\.name) == names, "\(section)")
        }
        vault.section = .kind(.card)
        vault.search = "a"
        await until { !vault.isSearching }
        #expect(vault.items.map(\.name) == ["card"], "a search stays in its section")
        vault.search = ""
        vault.section = .tag("office")
        #expect(await vault.delete(ItemChangesTests.mail) == nil)
        #expect(vault.section == .all, "a tag that nothing has any more leads nowhere")
        #expect(vault.items.map(\.name) == ["card", "plain"])
    }

    @Test func `an item gets fields, tags, a file and another name, and earlier values come back`() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let model = models.vault.fields(of: ItemChangesTests.mail, preferences: models.preferences)
        await model.load()
        #expect(model.kind == .login && model.isFavourite && model.earlier.isEmpty)
        #expect(await model.setFavourite(false) == nil)
        #expect(!model.isFavourite && !models.vault.items.contains(where: \.isFavourite))
        #expect(await model.setTags("office, new") == nil)
        #expect(model.tags == ["new", "office"])
        #expect(try await model.add(.url, "website", secret("https://mail.example")) == nil)
        #expect(try await model.add(.oneTimeCode, "second", secret("?")) == .code)
        #expect(try await model.add(.date, "day", secret("soon")) == .date)
        #expect(try await model.add(.text, "", secret("x")) == .label)
        #expect(model.fields.map(\.label) == ["username", "password", "code", "website"])
        #expect(try await model.set(model.fields[1], to: secret("second word")) == nil)
        #expect(await model.remove(model.fields[0]) == nil)
        #expect(model.fields.map(\.label) == ["password", "code", "website"])
        #expect(model.earlier.map(\.label) == ["username", "password"], "the latest first")
        let (name, word) = (model.earlier[0], model.earlier[1])
        #expect(model.withValue(of: word, text) == nil, "nothing of it is shown unasked")
        await model.reveal(word)
        #expect(model.revealedEarlier == [word.index] && model.withValue(of: word, text) == "first word")
        model.hide()
        #expect(model.revealedEarlier.isEmpty && model.withValue(of: word, text) == nil)
        #expect(await model.withCopy(of: word, text) == "first word")
        #expect(await model.restore(word) == nil)
        #expect(await model.withCopy(of: model.fields[0], text) == "first word")
        #expect(await model.restore(name) == nil)
        #expect(model.fields.map(\.label) == ["password", "code", "website", "username"])
        #expect(await model.forgetHistory() == nil)
        #expect(await model.restore(name) == .busy, "it is no earlier value any more")
        #expect(model.earlier.isEmpty)
        let file = scratch.path + ".txt"
        defer { try? FileManager.default.removeItem(atPath: file) }
        for content in ["one", "two"] {
            try Data(content.utf8).write(to: URL(fileURLWithPath: file))
            #expect(await model.attach(file) == nil)
        }
        #expect(model.fields.compactMap(\.fileName) == ["home.txt"], "a file of the same name is replaced")
        #expect(await model.attach("/dev/null") == .file(errno: EINVAL))
        #expect(await model.attach("/nowhere") == .file(errno: ENOENT))
        try Data(count: (1 << 20) + 1).write(to: URL(fileURLWithPath: file))
        #expect(await model.attach(file) == .tooLarge)
        let new = VaultItem.ID(collection: "home", name: "post")
        #expect(await models.vault.rename(model.place, to: .init(collection: "home", name: "card")) == .exists)
        #expect(await models.vault.rename(model.place, to: .init(collection: ".holdfast", name: "x")) == .invalidName)
        #expect(await models.vault.rename(model.place, to: new) == nil)
        #expect(models.vault.items.map(\.id).contains(new))
        #expect(await model.setFavourite(true) == .notFound)
        models.lock.panic()
        #expect(await model.setFavourite(true) == .locked)
        #expect(models.vault.sections.isEmpty && model.earlier.isEmpty && model.tags.isEmpty)
    }
}
