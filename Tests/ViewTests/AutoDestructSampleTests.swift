import Foundation
import Holdfast
import HoldfastUI
import SwiftUI
import TestSupport
import Testing

@testable import SampleAutoDestruct

/// Auto-destruct as Examples/Apple has it, up to the end of the process and what is left of it.
@Suite(.serialized, .patient) struct AutoDestructSampleTests {
    private static let named = ["Notes.sqlite", "Pictures/one.jpg"]

    private func support(_ home: ScratchFolder) throws -> String {
        let support = home["Library/Application Support"]
        try FileManager.default.createDirectory(atPath: support + "/Pictures", withIntermediateDirectories: true)
        for name in AutoDestructSampleTests.named {
            try Data("of the app".utf8).write(to: URL(fileURLWithPath: "\(support)/\(name)"))
        }
        return support
    }

    @Test func `it is turned on, cancelled, given up and turned off`() async throws {
        let home = try ScratchFolder("sample")
        let support = try support(home)
        await #expect(processExitsWith: .success) { [path = home.path as String] in
            await SampleUser.plays(in: path, AutoDestructFlow.changes)
        }
        #expect(AutoDestructSampleTests.named.allSatisfy { FileManager.default.fileExists(atPath: "\(support)/\($0)") })
    }

    @Test func `at the limit all that it names is gone, and the process ends`() async throws {
        let home = try ScratchFolder("sample")
        let support = try support(home)
        await #expect(processExitsWith: .success) { [path = home.path as String] in
            await SampleUser.plays(in: path, endsItself: true, AutoDestructFlow.destroys)
        }
        #expect(
            AutoDestructSampleTests.named.allSatisfy { !FileManager.default.fileExists(atPath: "\(support)/\($0)") })
        await #expect(processExitsWith: .success) { [path = home.path as String] in
            await SampleUser.plays(in: path, AutoDestructFlow.afterwards)
        }
    }
}

@MainActor private enum AutoDestructFlow {
    private static func starts(_ user: SampleUser) async throws -> Screen {
        user.content = ["Destroy everything", "Confirm again", "I understand: it is final"]
        return try await user.starts(AutoDestructApp())
    }

    /// Up to the countdown.
    private static func counts(_ user: SampleUser, _ screen: Screen) async throws {
        user.answers(.yes)
        try await user.taps("Destroy everything", on: screen, until: "asked") {
            screen.has("I understand: it is final")
        }
        try await user.taps("I understand: it is final", on: screen, until: "counted") {
            screen.texts.contains { $0.hasPrefix("In ") }
        }
    }

    /// From the countdown to its end.
    private static func confirms(_ user: SampleUser, _ screen: Screen, _ answer: SampleUser.Answer) async throws {
        user.answers(answer)
        user.timePasses(seconds: 31)
        user.models?.selfDestruct.tick()
        try await user.until("asked again", on: screen) {
            user.models?.selfDestruct.isBusy == false && user.hasAnswered
        }
    }

    static func changes(_ user: SampleUser) async throws {
        let screen = try await starts(user)
        try await user.until("open", on: screen) { screen.has("Turn on the lock first.") }
        try await user.leavesAndReturns("off")
        try await user.turnsLockOn()
        try await user.leavesAndReturns("on")
        let model = try #require(user.models).selfDestruct

        try await counts(user, screen)
        user.look("counting")
        try await user.taps("Cancel", on: screen, until: "cancelled") { model.pending == nil }
        #expect(!model.isOn)
        try await counts(user, screen)
        try await user.leavesAndReturns("counting")
        #expect(screen.has("Nothing was changed.") && !model.isOn)
        try await counts(user, screen)
        try await confirms(user, screen, .notRecognised)
        #expect(model.pending == .enable && !model.isOn)
        user.answers(.yes)
        try await user.taps("Confirm again", on: screen, until: "on") { screen.has("Changed.") }
        #expect(model.isOn)
        try await user.leavesAndReturns("destroys")

        try await counts(user, screen)
        try await confirms(user, screen, .yes)
        try await user.until("off", on: screen) { screen.has("Changed.") && !model.isOn }
    }

    static func destroys(_ user: SampleUser) async throws {
        let screen = try await starts(user)
        try await user.until("open", on: screen) { screen.has("Turn on the lock first.") }
        try await user.turnsLockOn()
        user.answers(.yes)
        let models = try #require(user.models)
        try await user.taps("After 3 failures", on: screen, until: "the limit") {
            models.settings.policy?.attemptLimit == 3
        }
        try await counts(user, screen)
        try await confirms(user, screen, .yes)
        try await user.until("on", on: screen) { models.selfDestruct.isOn }
        try await user.leaves("destroys")
        user.answers(.notRecognised, .cancel)
        try await user.returns("destroys")
        for _ in 0..<10 {
            user.answers(.notRecognised, .cancel)
            try await user.until("turned away", on: screen) {
                !models.lock.owner.isUnlocking && models.lock.owner.dialog.step == nil
            }
            user.look("refused")
            try screen.tap("Unlock")
            try await user.until("answered", on: screen) { user.hasAnswered }
        }
    }

    static func afterwards(_ user: SampleUser) async throws {
        let running = RunningApp(AutoDestructApp())
        let screen = running.window()
        let appModel = try #require(running.appModel)
        await appModel.opened()
        try await user.until("told", on: screen) {
            screen.has("This vault was destroyed. Its receipt is in its folder.")
        }
        #expect(screen.nodes(.button).isEmpty)
    }
}
