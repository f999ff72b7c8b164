import Foundation
import Holdfast
import HoldfastUI
import Observation
import TestSupport
import Testing

@MainActor @Suite(.patient) struct ExportModelTests {
    private func filled(_ scratch: Scratch, isLarge: Bool = false) async throws -> ReadyModels {
        let models = try await scratch.open()
        for (name, value) in [("Wi-Fi", "blue ladder"), ("VPN", "tunnel")] {
            let stored = await models.vault.put(try secret(value), at: .init(collection: "home", name: name))
            #expect(stored == nil)
        }
        return models
    }

    private func names(in folder: ScratchFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func isRefused(_ step: ExportModel.Step) -> Bool { if case .refused = step { true } else { false } }

    @Test func `nothing is written without a proof, with a wrong one, or twice with one`() async throws {
        let scratch = try Scratch()
        let model = try await filled(scratch).export
        let folder = try ScratchFolder("export")
        #expect(model.takesPasscode)
        await model.write(nil, as: .plain, password: nil, to: folder["out.json"])
        #expect(model.step == .refused(.proofExpired))
        await model.prove(passcode: try secret("wrong"))
        guard case .refused(.wrongPasscode) = model.step else {
            Issue.record("\(model.step)")
            return
        }
        await model.write(nil, as: .plain, password: nil, to: folder["out.json"])
        #expect(isRefused(model.step))
        #expect(try names(in: folder).isEmpty)
        scratch.clock.advance(milliseconds: 120_000)
        await model.prove(passcode: try secret("right"))
        #expect(model.step == .proven)
        await model.write(nil, as: .plain, password: nil, to: folder["out.json"])
        guard case .written = model.step else {
            Issue.record("\(model.step)")
            return
        }
        await model.write(nil, as: .plain, password: nil, to: folder["again.json"])
        #expect(isRefused(model.step))
        #expect(try names(in: folder) == ["out.json"])
    }

    @Test func `a proof is worth nothing after a minute`() async throws {
        let scratch = try Scratch()
        let model = try await filled(scratch).export
        let folder = try ScratchFolder("export")
        await model.prove(passcode: try secret("right"))
        #expect(model.step == .proven)
        scratch.clock.advance(milliseconds: 60_001)
        await model.write(nil, as: .plain, password: nil, to: folder["out.json"])
        #expect(model.step == .refused(.proofExpired))
        #expect(try names(in: folder).isEmpty)
    }

    @Test func `what is exported is imported again, all of it or what was chosen, and only its user reads it`()
        async throws
    {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let folder = try ScratchFolder("export")
        for (format, ids) in [
            (ExportModel.Format.database, nil), (.plain, nil),
            (.database, [VaultItem.ID(collection: "home", name: "VPN")]),
            (.plain, [VaultItem.ID(collection: "home", name: "VPN")]),
        ] {
            let path = folder["out"]
            let password = format == .database ? try secret("of the file") : nil
            await models.export.prove(passcode: try secret("right"))
            await models.export.write(ids, as: format, password: password, to: path)
            guard case .written(let report) = models.export.step else {
                Issue.record("\(models.export.step)")
                continue
            }
            #expect(report.path == path && report.entries == (ids == nil ? 2 : 1))
            #expect(report.left.isEmpty && report.shut.isEmpty)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            #expect(try names(in: folder) == ["out"])
            let other = try Scratch()
            let importer = try await other.open().vault.importer()
            await importer.open(path)
            if format == .database { await importer.open(with: try secret("of the file")) }
            guard case .planned(let plan) = importer.step else {
                Issue.record("\(importer.step)")
                continue
            }
            #expect(plan.added.sorted() == (ids == nil ? ["home/VPN", "home/Wi-Fi"] : ["home/VPN"]))
        }
        let text = try String(contentsOfFile: folder["out"], encoding: .utf8)
        #expect(text.contains("tunnel") && !text.contains("blue ladder"))
    }

    @Test func `an export that cannot be written leaves no part of a file`() async throws {
        let scratch = try Scratch()
        let model = try await filled(scratch).export
        let folder = try ScratchFolder("export")
        try FileManager.default.createDirectory(atPath: folder["out"], withIntermediateDirectories: false)
        try Data().write(to: URL(fileURLWithPath: folder["out"] + "/file"))
        await model.prove(passcode: try secret("right"))
        await model.write(nil, as: .plain, password: nil, to: folder["out"])
        guard case .failed = model.step else {
            Issue.record("\(model.step)")
            return
        }
        #expect(try names(in: folder) == ["out"])
        await model.prove(passcode: try secret("right"))
        await model.write(
            [.init(collection: "home", name: "gone")], as: .plain, password: nil, to: folder["none"])
        #expect(model.step == .failed(.notFound))
        #expect(try names(in: folder) == ["out"])
    }

    @Test func `the lock ends an export and its proof, and a stopped one leaves nothing`() async throws {
        let scratch = try Scratch()
        let models = try await filled(scratch)
        let model = models.export
        let folder = try ScratchFolder("export")
        await model.prove(passcode: try secret("right"))
        let writing = Task {
            await model.write(nil, as: .database, password: try? secret("of the file"), to: folder["out"])
        }
        while model.step == .proven { await Task.yield() }
        models.lock.panic()
        await writing.value
        #expect(model.step == .none)
        // On a busy machine it may have been whole before the lock fell; there is never a part of one.
        #expect(try names(in: folder).allSatisfy { $0 == "out" })
        try? FileManager.default.removeItem(atPath: folder["out"])
        await models.lock.unlock(.passcode, try secret("right"))
        await models.load()
        await model.write(nil, as: .plain, password: nil, to: folder["out"])
        #expect(model.step == .refused(.proofExpired))
        await model.prove(passcode: try secret("right"))
        models.lock.panic()
        #expect(model.step == .none)
        await models.lock.unlock(.passcode, try secret("right"))
        await models.load()
        await model.prove(passcode: try secret("right"))
        withObservationTracking {
            _ = model.step
        } onChange: {
            MainActor.assumeIsolated { model.cancel() }
        }
        await model.write(nil, as: .database, password: try secret("of the file"), to: folder["out"])
        #expect(model.step == .failed(.cancelled))
        #expect(try names(in: folder).isEmpty)
    }
}
