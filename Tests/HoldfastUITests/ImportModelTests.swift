import Foundation
import Holdfast
import HoldfastUI
import TestSupport
import Testing

@MainActor @Suite(.patient) struct ImportModelTests {
    private static let table = """
        name,url,username,password
        mail,https://mail.example,ada,purple hammer
        shop,https://shop.example,bob,yellow hammer

        """

    private func file(_ scratch: Scratch, _ name: String, _ text: String) throws -> String {
        let path = scratch.path + "." + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func plan(_ model: ImportModel) -> ImportModel.Plan? {
        if case .planned(let plan) = model.step { plan } else { nil }
    }

    @Test func `a file is shown as a plan, stored when it was seen, and not stored twice`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let path = try file(scratch, "csv", ImportModelTests.table)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let model = models.vault.importer()
        await model.open(path, into: "web")
        let planned = try #require(plan(model))
        #expect(
            planned.added.sorted() == ["web/mail", "web/shop"] && planned.duplicates.isEmpty && planned.notes.isEmpty)
        #expect(models.vault.items.isEmpty, "a plan stores nothing")
        await model.store()
        #expect(model.step == .stored(planned))
        #expect(models.vault.items.map(\.name) == ["mail", "shop"] && models.vault.collection == nil)
        #expect(models.vault.items.allSatisfy { $0.kind == .login && $0.collection == "web" })
        await model.store()
        #expect(model.step == .stored(planned), "a plan is stored once")
        await model.open(path, into: "web")
        let again = try #require(plan(model))
        #expect(again.added.isEmpty && again.duplicates.sorted() == ["mail", "shop"])
        await model.open(path, into: ".holdfast")
        await model.store()
        #expect(model.step == .failed(.other(.invalidName)))
    }

    @Test func `what cannot be imported says why, and nothing is stored`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let model = models.vault.importer()
        for (name, text, failure) in [
            ("none", "", ImportModel.Failure.unknownFormat), ("zero", "\u{0}\u{1}", .unknownFormat),
            ("odd", "one,two\n1,2\n", .unknownColumns),
        ] {
            let path = try file(scratch, name, text)
            defer { try? FileManager.default.removeItem(atPath: path) }
            await model.open(path)
            #expect(model.step == .failed(failure), "\(name)")
        }
        let broken = try file(scratch, "json", "{\"items\": [")
        defer { try? FileManager.default.removeItem(atPath: broken) }
        await model.open(broken)
        guard case .failed(.damaged) = model.step else {
            Issue.record("a damaged file: \(model.step)")
            return
        }
        await model.open("/nowhere/file")
        #expect(model.step == .failed(.other(.file(errno: ENOENT))))
        await model.open("/dev/zero")
        #expect(model.step == .failed(.other(.file(errno: EINVAL))))
        await model.store()
        #expect(models.vault.items.isEmpty)
    }

    #if os(Linux) && !canImport(Darwin)
    @Test func `a database of KeePassXC that needs a key file is opened with it, with and without a password`()
        async throws
    {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let folder = try ScratchFolder("import")
        for hasPassword in [true, false] {
            let (path, key) = (folder["\(hasPassword).kdbx"], folder["\(hasPassword).keyx"])
            try ImportModelTests.makeDatabase(path, key, password: hasPassword ? "pw" : nil)
            let model = models.vault.importer()
            await model.open(path)
            #expect(model.step == .password(wasWrong: false) && model.takesKeyFile)
            await model.open(with: try secret("pw"))
            #expect(model.step == .password(wasWrong: true))
            await model.open(with: try secret(hasPassword ? "pw" : ""), keyFile: key)
            #expect(plan(model)?.added.isEmpty == true, "\(model.step)")
        }
    }

    /// `scripts/bootstrap --test` installs KeePassXC's command.
    private static func makeDatabase(_ path: String, _ key: String, password: String?) throws {
        let folder = try ScratchFolder("keepassxc")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/keepassxc-cli")
        process.arguments =
            ["db-create", "-q", "-t", "100", "--set-key-file", key] + (password == nil ? [] : ["-p"]) + [path]
        process.environment = ["HOME": folder.path, "LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"]
        let give = Foundation.Pipe()
        process.standardInput = give
        try process.run()
        if let password { give.fileHandleForWriting.write(Data("\(password)\n\(password)\n".utf8)) }
        try give.fileHandleForWriting.close()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
    #endif

    @Test func `the lock drops what was read, also while it is read`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let path = try file(scratch, "csv", ImportModelTests.table)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let model = models.vault.importer()
        await model.open(path)
        #expect(plan(model) != nil)
        models.lock.panic()
        #expect(model.step == .none)
        await model.store()
        #expect(model.step == .none)
        await models.lock.unlock(.passcode, try secret("right"))
        await models.load()
        let reading = Task { await model.open(path) }
        await Task.yield()
        models.lock.panic()
        await reading.value
        #expect(plan(model) == nil)
        await models.lock.unlock(.passcode, try secret("right"))
        await models.load()
        #expect(models.vault.items.isEmpty)
    }
}
