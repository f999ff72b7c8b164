import Foundation
import Holdfast
import HoldfastUI
import Observation
import TestSupport
import Testing
import VaultCore

@MainActor @Suite(.patient) struct BackupModelTests {
    private func filled(_ scratch: Scratch) async throws -> ReadyModels {
        let models = try await scratch.open()
        let stored = await models.vault.put(try secret("blue ladder"), at: .init(collection: "home", name: "Wi-Fi"))
        #expect(stored == nil)
        return models
    }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test func `a backup is made in the folder that was chosen, restores, and is brought up to date`() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let model = models.backup
        #expect(model.lastBackup == nil && model.isDue)
        let folder = try ScratchFolder("backup")
        let path = folder[BackupModel.folderName]
        let before = Int64(Date().timeIntervalSince1970 * 1000)
        await model.make(in: folder.path)
        guard case .made(path, let files, let bytes) = model.step, files > 1, bytes > 0 else {
            Issue.record("\(model.step)")
            return
        }
        let made = try #require(model.lastBackup)
        #expect(made >= before - 1000 && !model.isDue)
        let restored = folder["restored"]
        _ = try Vault.restore(from: path, to: restored)
        let copy = try Vault(at: restored, settings: scratch.settings)
        try copy.unlock(passcode: secret("right"), spending: copy.burnAttempt())
        #expect(try copy.withValue(for: "Wi-Fi", in: "home") { text($0) } == "blue ladder")
        copy.lock()
        for chosen in [folder.path, path] {
            await model.make(in: chosen)
            guard case .made(path, _, _) = model.step else {
                Issue.record("\(model.step)")
                return
            }
        }
        #expect(try names(in: folder.path) == [BackupModel.folderName, "restored"])
    }

    @Test func `a folder with something else in it is left alone, and so is one that is not there`() async throws {
        let scratch = try Scratch()
        let model = try await filled(scratch).backup
        let folder = try ScratchFolder("backup")
        let path = folder[BackupModel.folderName]
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path + "/letter"))
        await model.make(in: folder.path)
        #expect(model.step == .failed(.exists) && model.lastBackup == nil)
        #expect(try names(in: path) == ["letter"])
        await model.make(in: "/dev/null")
        guard case .failed = model.step else {
            Issue.record("\(model.step)")
            return
        }
        model.end()
        #expect(model.step == .none)
    }

    /// A file that takes a while: its copy is stopped at the first piece that is told.
    private func withLargeFile(_ models: ReadyModels, _ folder: ScratchFolder) async throws {
        let source = folder["scan"]
        try Data(count: 24 << 20).write(to: URL(fileURLWithPath: source))
        let stored = await models.vault.addFile(at: source, as: .init(collection: "home", name: "scan"))
        #expect(stored == nil)
        try FileManager.default.removeItem(atPath: source)
    }

    /// Stops the next backup before it copies anything.
    private func stopAtOnce(_ model: BackupModel) {
        withObservationTracking {
            _ = model.step
        } onChange: {
            MainActor.assumeIsolated { model.cancel() }
        }
    }

    @Test func `a backup that is stopped leaves nothing, and an earlier one stays`() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let model = models.backup
        let folder = try ScratchFolder("backup")
        try await withLargeFile(models, folder)
        stopAtOnce(model)
        await model.make(in: folder.path)
        #expect(model.step == .failed(.cancelled) && model.lastBackup == nil)
        #expect(try names(in: folder.path).isEmpty)
        await model.make(in: folder.path)
        let first = try #require(model.lastBackup)
        stopAtOnce(model)
        await model.make(in: folder.path)
        #expect(model.step == .failed(.cancelled) && model.lastBackup == first)
        #expect(try names(in: folder.path) == [BackupModel.folderName])
        _ = try Vault.restore(from: folder[BackupModel.folderName], to: folder["restored"])
    }

    @Test func `the lock stops a backup, and nothing of it is left`() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let model = models.backup
        let folder = try ScratchFolder("backup")
        try await withLargeFile(models, folder)
        var isOver = false
        let making = Task {
            await model.make(in: folder.path)
            isOver = true
        }
        while !model.isCopying, !isOver { await Task.yield() }
        models.lock.panic()
        await making.value
        #expect(model.step == .none && model.lastBackup == nil && !model.isDue)
        // On a busy machine it may have been whole before the lock fell; there is never a part of one.
        for name in try names(in: folder.path) { _ = try Vault.restore(from: folder[name], to: folder["restored"]) }
        await model.make(in: folder.path)
        #expect(model.step == .none, "nothing is made while the vault is locked")
    }

    @Test func `a backup is due after two weeks, and where there is none`() {
        let day: Int64 = 86_400_000
        #expect(BackupRule.isDue(last: nil, at: 0))
        #expect(!BackupRule.isDue(last: 5 * day, at: 19 * day))
        #expect(BackupRule.isDue(last: 5 * day, at: 19 * day + 1))
        #expect(!BackupRule.isDue(last: 5 * day, at: 0), "the clock was put back")
        #expect(!BackupRule.isDue(last: .min, at: .max))
    }
}
