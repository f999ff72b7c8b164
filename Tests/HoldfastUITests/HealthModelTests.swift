import Foundation
import Holdfast
import HoldfastUI
import Observation
import TestSupport
import Testing

@MainActor @Suite(.patient) struct HealthModelTests {
    private static let strong = "r4!Vd0pX&uH2qZ8mLw"

    private func add(_ models: ReadyModels, _ name: String, _ password: String, tags: [String] = []) throws {
        var item = try Item(.login)
        try item.add(.secret, "password", secret(password))
        for tag in tags { try item.addTag(tag) }
        try ItemStore(models.lock.app.vault).add(item, as: name)
    }

    @Test func `what is wrong is grouped, each item once, with the others that share its password`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let health = models.health
        #expect(health.report == nil && health.groups.isEmpty)
        await health.look()
        #expect(health.report?.passwords == 0 && health.groups.isEmpty && health.count == 0)
        try add(models, "weak", "hunter2")
        try add(models, "one", Self.strong)
        try add(models, "two", Self.strong)
        try add(models, "asks", "hunter2", tags: ["ask-each-time"])
        await health.look()
        #expect(health.progress == nil && health.failure == nil)
        #expect(health.groups.map(\.kind) == [.weak, .reused])
        #expect(health.groups.map { $0.rows.map(\.id.name) } == [["weak"], ["one", "two"]])
        #expect(health.groups[1].rows.map(\.others) == [["two"], ["one"]])
        #expect(health.count == 3 && health.report?.guarded == 1)
    }

    @Test func `a list is compared with, and what is wrong with it is told`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let health = models.health
        try add(models, "bad", "password")
        let folder = try ScratchFolder("breaches")
        try Data("1E4C9B93F3F0682250B6CF8331B7EE68FD8:7\r\n".utf8).write(to: URL(fileURLWithPath: folder["5BAA6.txt"]))
        // One file of a folder stands for all of them.
        await health.compare(with: folder["5BAA6.txt"])
        #expect(health.list == folder.path && health.groups.map(\.kind) == [.breached, .weak])
        #expect(health.groups[0].rows.map(\.reason) == [.breached(times: 7)])
        try Data("hello\n".utf8).write(to: URL(fileURLWithPath: folder["list"]))
        await health.compare(with: folder["list"])
        #expect(health.failure == .list(.notHex(digits: 40, at: 0)) && health.report == nil && health.groups.isEmpty)
        await health.compare(with: nil)
        #expect(health.failure == nil && health.list == nil && health.groups.map(\.kind) == [.weak])
    }

    @Test func `everything is dropped when the lock falls, and a look under way shows nothing then`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let health = models.health
        for number in 0..<50 { try add(models, "item\(number)", "hunter2") }
        await health.look()
        #expect(health.count == 50)
        let looking = Task { await health.look() }
        await Task.yield()
        models.lock.panic()
        #expect(health.report == nil && health.progress == nil && health.groups.isEmpty && health.list == nil)
        await looking.value
        #expect(health.report == nil && health.progress == nil && health.failure == nil)
        await health.look()
        #expect(health.report == nil && health.failure == nil, "what is asked for while shut is not begun")
    }

    @Test func `a look that is stopped leaves the report before it`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let health = models.health
        try add(models, "weak", "hunter2")
        await health.look()
        let before = health.report
        try add(models, "another", "hunter2")
        // It is stopped as soon as it has begun.
        withObservationTracking {
            _ = health.progress
        } onChange: {
            MainActor.assumeIsolated { health.stop() }
        }
        await health.look()
        #expect(health.progress == nil && health.failure == nil && health.report == before)
    }
}
