import Foundation
import Holdfast
import HoldfastUI
import TestSupport
import Testing

@MainActor @Suite(.patient) struct ItemEditTests {
    private static let place = VaultItem.ID(collection: "default", name: "mail")
    private static let address = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=3600"

    private func opened(_ scratch: Scratch) async throws -> (ReadyModels, ItemFieldsModel) {
        let models = try await scratch.open()
        var login = try Item(.login)
        try login.add(.text, "door", secret("left"))
        try login.add(.url, "website", secret("https://mail.example"))
        try login.add(.oneTimeCode, "code", secret(ItemEditTests.address))
        try login.add(.secret, "password", secret("old word"))
        try unsafe login.addFile("paper", name: "id.txt", content: Array("content".utf8).span.bytes)
        try login.add(.text, "username", secret("ada"))
        try login.add(.date, "expires", secret("2031-12"))
        try login.setNotes(secret("a note"))
        try ItemStore(models.lock.app.vault).add(login, as: "mail")
        await models.vault.load()
        let model = models.vault.fields(of: ItemEditTests.place, preferences: models.preferences)
        await model.load()
        return (models, model)
    }

    private func field(_ label: String, _ model: ItemFieldsModel) throws -> ItemFieldsModel.Field {
        try #require(model.fields.first { $0.label == label })
    }

    @Test func `a login is shown in the order of its use, and its code as long as the item is`() async throws {
        let scratch = try Scratch()
        let (models, model) = try await opened(scratch)
        #expect(
            model.ordered.map(\.label) == ["username", "password", "code", "website", "door", "expires", "paper"])
        let code = try field("code", model)
        #expect(
            model.live.isEmpty && model.withValue(of: code, text) == nil && model.withNextCode(of: code, text) == nil)
        await model.showCodes()
        #expect(model.live == [code.id] && model.revealed.isEmpty)
        await model.reveal(code)
        model.hide()
        #expect(model.revealed.isEmpty, "a code that is shown anyway is not hidden with what was asked for")
        let now = UInt64(Date().timeIntervalSince1970)
        let key = try OneTimeCode(parsing: secret(ItemEditTests.address))
        let expected = try [0, 3600, 7200].map { later in try key.code(at: now + later).withBytes(text) }
        // The hour may have ended since.
        let shown = [model.withValue(of: code, text), model.withNextCode(of: code, text)]
        #expect(shown == [expected[0], expected[1]] || shown == [expected[1], expected[2]])
        #expect(model.withNextCode(of: try field("password", model), text) == nil)
        #expect(await model.setFavourite(true) == nil)
        #expect(model.live == [code.id], "a change of the item hides none")
        models.lock.lock()
        #expect(
            model.live.isEmpty && model.withValue(of: code, text) == nil && model.withNextCode(of: code, text) == nil)
    }

    @Test func `values are changed in one transaction, and what they were is kept`() async throws {
        let scratch = try Scratch()
        let (models, model) = try await opened(scratch)
        let store = ItemStore(models.lock.app.vault)
        let found = await model.beginEditing()
        let edit = try #require(found)
        #expect(edit.fields == model.ordered && model.editing === edit)
        let (password, code) = (try field("password", model), try field("code", model))
        #expect(
            edit.withValue(of: .field(password), text) == "old word" && edit.withValue(of: .notes, text) == "a note")
        #expect(edit.withValue(of: .field(code), text) == nil, "the key of a code is not read")
        #expect(try !secret("old word").withBytes { edit.differs(.field(password), from: $0) })
        #expect(try secret("new word").withBytes { edit.differs(.field(password), from: $0) })
        #expect(try !secret("").withBytes { edit.differs(.field(code), from: $0) })
        #expect(throws: ItemDraft.Refusal.code) { try edit.set(.field(code), secret("no key!")) }
        try edit.set(.field(password), secret("new word"))
        try edit.set(.field(field("expires", model)), secret("soon"))
        #expect(await model.save(edit) == .date)
        #expect(try store.item("mail").history.isEmpty, "all or nothing")
        edit.reset()
        try edit.set(.field(password), secret("new word"))
        try edit.set(.field(field("username", model)), secret("grace"))
        try edit.set(.field(code), secret("JBSW Y3DP EHPK 3PXP"))
        try edit.set(.notes, secret("another note"))
        edit.remove(try field("door", model))
        edit.remove(try field("website", model))
        let before = try models.lock.app.vault.lastChange()
        #expect(await model.save(edit) == nil)
        #expect(try models.lock.app.vault.lastChange() == before + 1, "one transaction")
        #expect(model.editing == nil && edit.withValue(of: .notes, text) == nil)
        #expect(await model.save(edit) == .other(.notPending))
        let item = try store.item("mail")
        #expect(item.fields.map(\.label) == ["code", "password", "paper", "username", "expires"])
        #expect(item.withNotes(text) == "another note")
        #expect(item.withValue(of: item.fields[0], text).contains("JBSWY3DPEHPK3PXP"))
        #expect(item.withValue(of: item.fields[1], text) == "new word")
        #expect(item.withValue(of: item.fields[3], text) == "grace")
        #expect(Set(item.history.map(\.label)) == ["password", "username", "code", "door", "website"])
    }

    @Test func `what another program changed meanwhile is not written over unseen`() async throws {
        let scratch = try Scratch()
        let (models, model) = try await opened(scratch)
        let store = ItemStore(models.lock.app.vault)
        let found = await model.beginEditing()
        let edit = try #require(found)
        let password = try field("password", model)
        try edit.set(.field(password), secret("mine"))
        try store.change("mail") { item in try item.set(item.fields[3], secret("theirs")) }
        #expect(await model.save(edit) == .other(.busy))
        #expect(model.editing === edit, "what was typed is still there")
        #expect(try store.item("mail").withValue(of: store.item("mail").fields[3], text) == "theirs")
        #expect(await model.save(edit) == nil)
        let item = try store.item("mail")
        #expect(item.withValue(of: item.fields[3], text) == "mine")
        let kept = item.history.map { item.withValue(of: $0, text) }
        #expect(kept == ["old word", "theirs"], "theirs is an earlier value")
        // Where the field is another one by now, saving again does not help.
        let second = await model.beginEditing()
        let next = try #require(second)
        try next.set(.field(field("username", model)), secret("grace"))
        try store.change("mail") { item in try item.remove(item.fields[0]) }
        for _ in 0..<2 { #expect(await model.save(next) == .other(.busy)) }
        #expect(try store.item("mail").fields.map(\.label).contains("username"))
        models.lock.panic()
        #expect(
            model.editing == nil && next.withValue(of: .notes, text) == nil, "nothing of it is left when the lock falls"
        )
        #expect(await model.save(next) != nil)
        #expect(await model.beginEditing() == nil)
    }
}
