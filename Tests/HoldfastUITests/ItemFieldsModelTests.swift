import Foundation
import Holdfast
import HoldfastUI
import TestSupport
import Testing

@MainActor @Suite(.patient) struct ItemFieldsModelTests {
    private static let place = VaultItem.ID(collection: "default", name: "mail")

    private func opened(_ scratch: Scratch) async throws -> ReadyModels {
        let models = try await scratch.open()
        let items = ItemStore(models.lock.app.vault)
        var login = try Item(.login)
        try login.add(.text, "username", secret("ada"))
        try login.add(.secret, "password", secret("old word"))
        try login.add(
            .oneTimeCode, "code", secret("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=3600"))
        try login.add(.oneTimeCode, "counter", secret("otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQ&counter=1"))
        try unsafe login.addFile("paper", name: "id.txt", content: Array("content".utf8).span.bytes)
        try login.addTag("work")
        try login.setNotes(secret("a\nb"))
        try items.add(login, as: "mail")
        await models.vault.load()
        return models
    }

    @Test func `an item's fields are listed, and a secret is shown when it is asked for`() async throws {
        let scratch = try Scratch()
        let models = try await opened(scratch)
        let model = models.vault.fields(of: ItemFieldsModelTests.place, preferences: models.preferences)
        await model.load()
        #expect(model.isItem && model.fields.map(\.label) == ["username", "password", "code", "counter", "paper"])
        #expect(
            model.fields.map(\.isSecret) == [false, true, true, true, false] && model.tags == ["work"] && model.hasNotes
        )
        #expect(model.revealed.isEmpty && !model.showsNotes)
        let password = model.fields[1]
        // Nothing of a secret is there until it is asked for; copying shows nothing.
        #expect(model.withValue(of: password, text) == nil && model.withNotes(text) == nil)
        #expect(await model.withCopy(of: password, text) == "old word")
        #expect(model.revealed.isEmpty && model.withValue(of: password, text) == nil)
        await model.reveal(password)
        #expect(model.revealed == [password.id] && model.withValue(of: password, text) == "old word")
        model.hide(password)
        #expect(model.revealed.isEmpty && model.withValue(of: password, text) == nil)
        #expect(model.withValue(of: model.fields[0], text) == "ada", "what is no secret is shown at once")
        await model.revealNotes()
        #expect(model.showsNotes && model.withNotes(text) == "a\nb")
        model.hide()
        #expect(!model.showsNotes && model.withNotes(text) == nil)
        let (code, counter, file) = (model.fields[2], model.fields[3], model.fields[4])
        #expect(model.secondsLeft(of: code) == nil, "a code that is hidden has no time to show")
        await model.reveal(code)
        #expect(model.withValue(of: code, text)?.count == 6)
        #expect(model.secondsLeft(of: code).map { (1...3600).contains($0) } ?? false)
        // A code by a counter counts when it is given: it is not given for a look.
        await model.reveal(counter)
        #expect(model.withValue(of: counter, text) == nil && model.secondsLeft(of: counter) == nil)
        #expect(await model.withCopy(of: counter, text) == nil && model.problem == nil)
        #expect(file.fileName == "id.txt" && password.fileName == nil)
        await model.reveal(file)
        #expect(model.withValue(of: file, text) == nil, "a file is not read for its page")
        #expect(await model.withContent(of: file, text) == "content")
        #expect(await model.withContent(of: password, text) == nil && model.problem == nil)
    }

    @Test func `a code by a counter is shown once, and its number is stored before`() async throws {
        let scratch = try Scratch()
        let models = try await opened(scratch)
        let model = models.vault.fields(of: ItemFieldsModelTests.place, preferences: models.preferences)
        await model.load()
        let (password, counter) = (model.fields[1], model.fields[3])
        #expect(counter.countsUp && model.fields.count(where: \.countsUp) == 1)
        #expect(await model.revealNextCode(of: password) == .notFound)
        for number: UInt64 in 1...2 {
            #expect(await model.revealNextCode(of: model.fields[3]) == nil)
            let code = try OneTimeCode(
                key: secret("1234567890"), moment: .counter(number)
            ).code(at: 0).withBytes { text($0) }
            #expect(model.withValue(of: model.fields[3], text) == code)
            #expect(await model.withCopy(of: model.fields[3], text) == code, "copying uses nothing up")
            #expect(model.secondsLeft(of: model.fields[3]) == nil && model.earlier.isEmpty)
        }
        let stored = try ItemStore(models.lock.app.vault).item("mail")
        let found = stored.field("counter")
        let field = try #require(found)
        let address = stored.withValue(of: field) { text($0) }
        #expect(address.contains("counter=3"))
        model.hide(model.fields[3])
        #expect(await model.withCopy(of: model.fields[3], text) == nil)
        models.lock.lock()
        #expect(await model.revealNextCode(of: counter) != nil)
    }

    @Test func `an attachment is written beside the main thread, and an error is told`() async throws {
        let scratch = try Scratch()
        let models = try await opened(scratch)
        let vault = models.vault
        let large = [UInt8]((0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7) })
        try ItemStore(models.lock.app.vault).change("mail") { item in
            try unsafe item.addFile("scan", name: "scan.bin", content: large.span.bytes)
        }
        let model = vault.fields(of: ItemFieldsModelTests.place, preferences: models.preferences)
        await model.load()
        let (path, pipe) = (scratch.path + ".saved", scratch.path + ".pipe")
        defer { for path in [path, pipe] { try? FileManager.default.removeItem(atPath: path) } }
        #expect(await model.save(model.fields[4], to: path) == nil)
        #expect(FileManager.default.contents(atPath: path).map { Array($0) } == Array("content".utf8))
        #expect(await model.save(model.fields[5], to: path) == nil, "a file of that name is replaced")
        #expect(FileManager.default.contents(atPath: path).map { Array($0) } == large)
        #expect(await model.save(model.fields[4], to: "/nowhere/x") == .file(errno: ENOENT))
        #expect(await model.save(model.fields[1], to: path) == .notFound)
        // One file at a time: while another waits for its source, this one is refused.
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        let adding = Task { await vault.addFile(at: pipe, as: .init(collection: "files", name: "endless")) }
        let writer = await Task.detached { unsafe open(pipe, O_WRONLY) }.value
        await until { vault.transfer != nil }
        #expect(await model.save(model.fields[4], to: path) == .busy)
        close(writer)
        #expect(await adding.value == nil)
        #expect(FileManager.default.contents(atPath: path).map { Array($0) } == large)
        let file = model.fields[4]
        try ItemStore(models.lock.app.vault).change("mail") { item in try item.remove(item.fields[0]) }
        #expect(await model.save(file, to: path) == .busy, "another program changed the item")
        models.lock.panic()
        #expect(await model.save(file, to: path) == .locked)
    }

    @Test func `a field that is changed keeps its earlier value, and one that somebody else changed is not touched`()
        async throws
    {
        let scratch = try Scratch()
        let models = try await opened(scratch)
        let vault = models.lock.app.vault
        let model = models.vault.fields(of: ItemFieldsModelTests.place, preferences: models.preferences)
        await model.load()
        let password = model.fields[1]
        await model.reveal(password)
        #expect(await model.set(password, to: try secret("new word")) == nil)
        #expect(model.revealed.isEmpty && model.withValue(of: password, text) == nil, "the old word is not shown on")
        #expect(await model.withCopy(of: model.fields[1], text) == "new word")
        #expect(try ItemStore(vault).item("mail").history.map(\.label) == ["password"])
        try ItemStore(vault).change("mail") { item in try item.rename(item.fields[1], to: "passphrase") }
        #expect(await model.set(password, to: try secret("late")) == .busy)
        #expect(model.fields[1].label == "passphrase")
        #expect(await model.withCopy(of: model.fields[1], text) == "new word")
        // The page was not read again since: what it shows there is another field by now.
        let shown = model.fields[1]
        try ItemStore(vault).change("mail") { item in try item.rename(item.fields[1], to: "word") }
        await model.reveal(shown)
        #expect(model.revealed.isEmpty && model.problem == .busy)
        #expect(await model.withCopy(of: shown, text) == nil)
    }

    @Test func `nothing of an item is left when the lock falls, and a plain value has no fields`() async throws {
        let scratch = try Scratch()
        let models = try await opened(scratch)
        let model = models.vault.fields(of: ItemFieldsModelTests.place, preferences: models.preferences)
        await model.load()
        let password = model.fields[1]
        await model.reveal(password)
        await model.revealNotes()
        models.lock.panic()
        #expect(model.fields.isEmpty && model.tags.isEmpty && !model.isItem && model.revealed.isEmpty)
        #expect(model.withValue(of: password, text) == nil && model.withNotes(text) == nil)
        await model.reveal(password)
        #expect(model.revealed.isEmpty)
        #expect(await model.withCopy(of: password, text) == nil)
        await model.load()
        #expect(model.fields.isEmpty && model.problem == .locked)
        await models.lock.unlock(.passcode, try secret("right"))
        await model.load()
        // The lock falls while a secret is read: whatever comes is not shown.
        let revealing = Task { await model.reveal(password) }
        await Task.yield()
        models.lock.panic()
        await revealing.value
        #expect(model.revealed.isEmpty && model.withValue(of: password, text) == nil && model.problem == nil)
    }

    @Test func `what is thrown away is in the trash until it is put back or removed for good`() async throws {
        let scratch = try Scratch()
        let models = try await opened(scratch)
        let vault = models.vault
        #expect(await vault.put(try secret("of value"), at: .init(collection: "work", name: "value")) == nil)
        let plain = vault.fields(of: .init(collection: "work", name: "value"), preferences: models.preferences)
        await plain.load()
        #expect(!plain.isItem && plain.fields.isEmpty && plain.problem == nil)
        #expect(await vault.delete(ItemFieldsModelTests.place) == nil)
        #expect(await vault.delete(.init(collection: "work", name: "value")) == nil)
        #expect(vault.items.isEmpty && vault.trash.isEmpty)
        #expect(await vault.loadTrash() == nil)
        #expect(Set(vault.trash.map(\.name)) == ["mail", "value"])
        let value = try #require(vault.trash.first { $0.name == "value" })
        #expect(await vault.restore(value) == nil)
        #expect(vault.items.map(\.name) == ["value"] && vault.trash.map(\.name) == ["mail"])
        #expect(try models.lock.app.vault.value(for: "value", in: "work").withBytes(text) == "of value")
        #expect(await vault.put(try secret("x"), at: ItemFieldsModelTests.place) == nil)
        #expect(await vault.restore(vault.trash[0]) == .exists)
        #expect(await vault.emptyTrash() == nil && vault.trash.isEmpty)
        _ = await vault.delete(ItemFieldsModelTests.place)
        await vault.loadTrash()
        models.lock.panic()
        #expect(vault.trash.isEmpty)
    }
}
