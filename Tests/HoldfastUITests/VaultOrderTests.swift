import Foundation
import Holdfast
import HoldfastUI
import TestSupport
import Testing

@MainActor @Suite(.patient) struct VaultOrderTests {
    private static let all = ["work/api token", "home/Wi-Fi", "work/VPN", "work/servers/mail", "alone"]

    private static func id(_ path: String) -> VaultItem.ID {
        let path = EntryPath(parsing: path)!
        return VaultItem.ID(collection: path.collection, name: path.name)
    }

    private static func ids(_ paths: [String]) -> [VaultItem.ID] { paths.map(id) }

    private func filled(_ scratch: Scratch) async throws -> ReadyModels {
        let models = try await scratch.open()
        for path in VaultOrderTests.all {
            let login = try ItemDraft(.login)
            try login.add(.text, "username", secret("ada-\(path.count)"))
            #expect(await models.vault.add(login, at: VaultOrderTests.id(path)) == nil)
        }
        return models
    }

    private func titles(_ vault: VaultModel) -> [String] { vault.items.map(\.title) }

    @Test func `a list shows titles, folders and users, and is sorted by any of three`() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let vault = models.vault
        #expect(titles(vault) == ["alone", "api token", "mail", "VPN", "Wi-Fi"], "as people read names")
        #expect(vault.items.map(\.folder) == ["", "work", "work/servers", "work", "home"])
        #expect(vault.items[0].user == "ada-5")
        #expect(
            await vault.fields(of: VaultOrderTests.id("work/VPN"), preferences: models.preferences).loaded()
                .setFavourite(true) == nil)
        #expect(titles(vault) == ["VPN", "alone", "api token", "mail", "Wi-Fi"], "favourites come first")
        let card = vault.fields(of: VaultOrderTests.id("home/Wi-Fi"), preferences: models.preferences)
        await card.load()
        let last = vault.items.map(\.changed).max() ?? 0
        await until { Int64(Date().timeIntervalSince1970 * 1000) > last }
        #expect(try await card.set(card.fields[0], to: secret("grace")) == nil)
        vault.order = .changed
        #expect(titles(vault).first == "Wi-Fi", "it was changed last")
        #expect(await card.setFavourite(true) == nil)
        #expect(await card.setFavourite(false) == nil)
        vault.order = .used
        #expect(titles(vault) == ["alone", "api token", "mail", "VPN", "Wi-Fi"], "none was used")
        vault.noteUse(of: VaultOrderTests.id("work/servers/mail"))
        vault.noteUse(of: VaultOrderTests.id("home/Wi-Fi"))
        #expect(titles(vault) == ["Wi-Fi", "mail", "alone", "api token", "VPN"])
        await vault.storeUses()
        vault.search = "ADA-17"
        #expect(titles(vault) == ["mail"], "users are found at once")
    }

    @Test func `the order and the last uses are still known after the lock`() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        await models.preferences.change { $0.order = .used }
        #expect(models.vault.order == .used)
        models.vault.noteUse(of: VaultOrderTests.id("work/VPN"))
        await models.vault.storeUses()
        models.vault.drop()
        #expect(models.vault.items.isEmpty)
        await models.load()
        #expect(titles(models.vault).first == "VPN")
        // What is no list of uses is none.
        let vault = models.lock.app.vault
        for noise in ["", "noise", "9223372036854775808 a\n1\n -1 \n", "\u{0}", "1 work/VPN/\\u{zz}\n"] {
            try vault.put(
                bytes: unsafe Array(noise.utf8).span.bytes, for: "recent", in: ".holdfast", replacing: true)
            models.vault.drop()
            await models.load()
            #expect(models.vault.items.count == 5)
        }
    }

    @Test func `several items are moved, tagged and thrown away, and each comes back`() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let vault = models.vault
        let some = VaultOrderTests.ids(["work/VPN", "work/servers/mail", "alone"])
        let moved = await vault.move(some, toFolder: "new/place")
        #expect(moved.done == some && moved.failed == 0 && moved.problem == nil)
        #expect(vault.items.filter { $0.folder == "new/place" }.map(\.title) == ["alone", "mail", "VPN"])
        let back = await vault.undo(moved.moves)
        #expect(back.failed == 0)
        #expect(Set(vault.items.map(\.id)) == Set(VaultOrderTests.ids(VaultOrderTests.all)))
        let tagged = await vault.tag(some, adding: ["a", "b"])
        #expect(tagged.failed == 0 && vault.items.filter { $0.tags == ["a", "b"] }.count == 3)
        _ = await vault.tag(some, adding: [], removing: ["a"])
        #expect(vault.items.filter { $0.tags == ["b"] }.count == 3)
        let gone = await vault.delete(some)
        #expect(gone.failed == 0 && titles(vault) == ["api token", "Wi-Fi"])
        let there = await vault.undelete(some)
        #expect(there.failed == 0 && titles(vault).count == 5 && vault.trash.isEmpty)
    }

    @Test func `one that cannot be changed holds up no other, and nothing is overwritten`() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let vault = models.vault
        #expect(try await vault.put(secret("x"), at: VaultOrderTests.id("home/VPN")) == nil)
        let moved = await vault.move(VaultOrderTests.ids(["work/VPN", "work/api token"]), toFolder: "home")
        #expect(moved.failed == 1 && moved.problem == .exists)
        #expect(moved.done == VaultOrderTests.ids(["work/api token"]))
        #expect(vault.items.contains { $0.id == VaultOrderTests.id("work/VPN") })
        for folder in [".holdfast", "a//b", "/", "..", "default/x"] {
            let refused = await vault.move(VaultOrderTests.ids(["work/VPN"]), toFolder: folder)
            #expect(refused.failed == 1 && refused.problem != nil, "\(folder)")
        }
        let missing = await vault.delete(VaultOrderTests.ids(["nowhere", "home/VPN"]))
        #expect(missing.failed == 1 && missing.problem == .notFound)
        models.lock.lock()
        await until { !models.lock.app.vault.isUnlocked }
        let late = await vault.delete(VaultOrderTests.ids(["alone"]))
        #expect(late.failed == 1 && vault.items.isEmpty)
    }
}

extension ItemFieldsModel {
    fileprivate func loaded() async -> ItemFieldsModel {
        await load()
        return self
    }
}
