import Foundation
import Holdfast
import HoldfastUI
import TestSupport
import Testing

@MainActor @Suite(.patient) struct VaultModelTests {
    private func filled(_ scratch: Scratch) async throws -> ReadyModels {
        let models = try await scratch.open()
        for (collection, name) in [("work", "VPN"), ("work", "api token"), ("home", "Wi-Fi"), ("home", "Über")] {
            let stored = await models.vault.put(
                try secret("of \(name)"), at: .init(collection: collection, name: name))
            #expect(stored == nil)
        }
        return models
    }

    @Test func listsSearchesAndNarrowsToACollection() async throws {
        let scratch = try Scratch()
        let vault = try await filled(scratch).vault
        #expect(vault.collections.map(\.name) == ["home", "work"] && vault.collections.map(\.count) == [2, 2])
        #expect(vault.items.count == 4)
        vault.search = "vp"
        #expect(vault.items.map(\.name) == ["VPN"])
        vault.search = "ÜB"
        #expect(vault.items.map(\.name) == ["Über"])
        vault.collection = "work"
        #expect(vault.items.isEmpty)
        vault.search = ""
        #expect(vault.items.map(\.name) == ["api token", "VPN"], "as people read names")
        vault.collection = nil
        #expect(vault.items.count == 4)
    }

    @Test func `a search finds tags and open fields too, and never secrets`() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let vault = models.vault
        var login = try Item(.login)
        try login.add(.text, "username", secret("ada@example.org"))
        try login.add(.secret, "password", secret("mountain"))
        try login.addTag("office")
        try ItemStore(models.lock.app.vault).add(login, as: "mail", in: "work")
        await vault.load()
        for text in ["ADA", "#office", "offi ma", "example.org mail"] {
            vault.search = text
            await until { !vault.isSearching }
            #expect(vault.items.map(\.name) == ["mail"], "\(text)")
        }
        for text in ["mountain", "#offi", "ada vpn"] {
            vault.search = text
            await until { !vault.isSearching }
            #expect(vault.items.isEmpty, "\(text)")
        }
        // An answer to an earlier text is not shown.
        vault.search = "ada"
        vault.search = "vp"
        await until { !vault.isSearching }
        #expect(vault.items.map(\.name) == ["VPN"])
        vault.search = "ada"
        vault.collection = "home"
        await until { !vault.isSearching }
        #expect(vault.items.isEmpty)
        vault.collection = nil
        models.lock.panic()
        #expect(vault.items.isEmpty && vault.search.isEmpty && !vault.isSearching)
    }

    @Test func storesReplacesAndRemoves() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let id = VaultItem.ID(collection: "work", name: "VPN")
        #expect(try await models.vault.put(secret("x"), at: id) == .exists)
        #expect(try await models.vault.put(secret("x"), at: id, replacing: true) == nil)
        #expect(try models.lock.app.vault.value(for: "VPN", in: "work").withBytes(text) == "x")
        #expect(try await models.vault.put(secret("x"), at: .init(collection: "work", name: "")) == .invalidName)
        #expect(try await models.vault.put(secret("x"), at: .init(collection: ".holdfast", name: "a")) == .invalidName)
        #expect(await models.vault.delete(id) == nil)
        #expect(await models.vault.delete(id) == .notFound)
        #expect(!models.vault.items.contains { $0.id == id })
    }

    @Test func aValueIsShownForAWhileAndLent() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let item = try #require(models.vault.items.first { $0.name == "Wi-Fi" })
        let detail = models.vault.detail(of: item, preferences: models.preferences)
        #expect(detail.content == .hidden && detail.withText(text) == nil)
        await detail.reveal()
        #expect(detail.content == .text(lines: 1) && detail.withText(text) == "of Wi-Fi")
        detail.hide()
        #expect(detail.content == .hidden && detail.withText(text) == nil)
        #expect(await detail.withCopy(text) == "of Wi-Fi")
        #expect(detail.content == .hidden, "copying shows nothing")
        models.lock.panic()
        await detail.reveal()
        #expect(detail.content == .hidden && detail.problem == .locked)
        #expect(await detail.withCopy(text) == nil)
    }

    @Test(arguments: [("a\nb\n", "text"), ("\u{1B}[2J", "binary"), ("", "text"), ("\u{7F}", "binary")])
    func whatIsNoTextIsNotShownAsText(_ value: String, _ kind: String) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        _ = await models.vault.put(try secret(value), at: .init(collection: "c", name: "n"))
        let detail = models.vault.detail(of: models.vault.items[0], preferences: models.preferences)
        await detail.reveal()
        let isText = if case .text = detail.content { true } else { false }
        #expect(isText == (kind == "text"))
        #expect(detail.withText(text) == value)
    }

    @Test func filesGoInAndComeOutUnchanged() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let content = Data((0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7) })
        let source = try scratch.file("in", content)
        let target = scratch.path + "-out"
        defer { for path in [source, target] { try? FileManager.default.removeItem(atPath: path) } }
        let id = VaultItem.ID(collection: "files", name: "scan")
        #expect(await models.vault.addFile(at: source, as: id) == nil)
        #expect(await models.vault.addFile(at: source, as: id) == .exists)
        #expect(models.vault.transfer == nil)
        let item = try #require(models.vault.items.first)
        #expect(item.isFile && item.size == 3_000_001)
        #expect(await models.vault.saveFile(item, to: target) == nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == content)
        let mode = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let detail = models.vault.detail(of: item, preferences: models.preferences)
        await detail.reveal()
        #expect(detail.problem == .tooLarge && detail.content == .hidden)
        #expect(await models.vault.addFile(at: scratch.path + "-none", as: id) == .file(errno: ENOENT))
        #expect(await models.vault.addFile(at: NSTemporaryDirectory(), as: id) == .file(errno: EISDIR))
    }

    @Test func aFileThatIsStoppedLeavesNothing() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let vault = models.vault
        let pipe = scratch.path + "-pipe"
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        defer { _ = unsafe unlink(pipe) }
        // The pipe's other end is ours: the transfer waits for it for as long as the test wants.
        let adding = Task { await vault.addFile(at: pipe, as: .init(collection: "files", name: "endless")) }
        let writer = await Task.detached { unsafe open(pipe, O_WRONLY) }.value
        let first: [UInt8] = [UInt8](repeating: 7, count: 1000)
        #expect(unsafe write(writer, first, first.count) == 1000)
        await until { vault.transfer != nil }
        vault.cancelTransfer()
        _ = unsafe write(writer, first, first.count)
        close(writer)
        #expect(await adding.value == .cancelled)
        #expect(vault.items.isEmpty && vault.transfer == nil)
        #expect(try models.lock.app.vault.verify().isIntact)
    }

    @Test func whatIsReadWhileTheLockFallsIsNotShown() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let reading = Task { await models.vault.load() }
        models.lock.panic()
        await reading.value
        #expect(models.vault.items.isEmpty && models.vault.collections.isEmpty)
    }

    @Test func whatWasWrittenWhileLockedWaitsForItsOwner() async throws {
        let scratch = try Scratch()
        let models = try await scratch.models()
        let vault = models.lock.app.vault
        for name in ["one", "two"] { try vault.open.put(secret("found"), for: name, in: "work") }
        await models.lock.unlock(.passcode, try secret("right"))
        await models.load()
        #expect(models.vault.items.isEmpty)
        #expect(models.vault.inbox.map(\.originalName).sorted() == ["one", "two"])
        let one = try #require(models.vault.inbox.first { $0.originalName == "one" })
        #expect(await models.vault.accept(one) == nil)
        #expect(models.vault.items.map(\.id) == [.init(collection: "work", name: "one")])
        let two = try #require(models.vault.inbox.first)
        #expect(await models.vault.reject(two) == nil)
        #expect(models.vault.inbox.isEmpty && models.vault.items.count == 1)
    }
}
