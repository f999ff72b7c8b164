import Foundation
import Holdfast
import HoldfastUI
import SwiftUI
import TestSupport
import Testing

@testable import SampleFaceIDLock
@testable import SampleFallback
@testable import SampleOwnLockScreen

/// The apps of Examples/Apple as they stand there, from their first start on: each in a process, with a device of its
/// own.
@Suite(.serialized, .patient) struct SampleFlowTests {
    @Test func `the Face ID lock`() async throws {
        let home = try ScratchFolder("sample")
        await #expect(processExitsWith: .success) { [path = home.path as String] in
            await SampleUser.plays(in: path, FaceIDLockFlow.run)
        }
    }

    @Test func `a lock screen of the app's own`() async throws {
        let home = try ScratchFolder("sample")
        await #expect(processExitsWith: .success) { [path = home.path as String] in
            await SampleUser.plays(in: path, OwnFlow.run)
        }
    }

    @Test func `a token with a fallback`() async throws {
        let home = try ScratchFolder("sample")
        await #expect(processExitsWith: .success) { [path = home.path as String] in
            await SampleUser.plays(in: path, FallbackFlow.run)
        }
    }
}

/// Off at first; a prompt turns it on and off; then a face or the passcode is asked for at each start and each return.
@MainActor private enum FaceIDLockFlow {
    static func run(_ user: SampleUser) async throws {
        user.content = ["Your notes"]
        var screen = try await user.starts(FaceIDLockApp())
        func isOn() -> Bool? { screen.nodes(.toggle).first.map { $0.shown == "on" } }
        try await user.until("open", on: screen) { screen.pictures("Your notes") }
        #expect(user.prompts == 0 && isOn() == false)
        try await user.leavesAndReturns("off")
        #expect(screen.pictures("Your notes") && user.prompts == 0)

        user.answers(.notRecognised, .notRecognised)
        try await user.taps("Face ID lock", on: screen, until: "refused") { screen.presented == ["alert"] }
        try await user.leavesAndReturns("an alert, off")
        try screen.tap("OK")
        screen.finishAnimations()
        #expect(isOn() == false)

        user.answers(.yes)
        try await user.taps("Face ID lock", on: screen, until: "on") { isOn() == true && user.isLockOn }
        try await user.leavesAndReturns("on")
        try await locked(user, screen)

        // A cold launch asks by itself. Cancelled, it asks at a button.
        user.answers(.cancel)
        screen = try await user.starts(FaceIDLockApp())
        try await user.until("asked", on: screen) { user.isTurnedAway }
        user.look("a cold launch")
        try await user.leaves("a cold launch")
        user.answers(.yes)
        try await user.returns("a cold launch")
        try await user.opened("known after a cold launch")
        #expect(screen.pictures("Your notes"))

        user.answers(.cancel)
        try await user.taps("Face ID lock", on: screen, until: "refused") { screen.presented == ["alert"] }
        try await user.leavesAndReturns("an alert, on")
        if screen.presented == ["alert"] { try screen.tap("OK") }
        screen.finishAnimations()
        // Left while the device asks, nothing of it stands above the lock screen.
        user.answers(.nothing)
        try await user.taps("Face ID lock", on: screen, until: "asked") { user.hasAnswered }
        try await user.leavesAndReturns("a prompt")
        if screen.presented == ["alert"] { try screen.tap("OK") }
        screen.finishAnimations()
        user.answers(.yes)
        try await user.taps("Face ID lock", on: screen, until: "off") { isOn() == false && !user.isLockOn }
        try await user.leavesAndReturns("off again")
        #expect(screen.reports == [])
    }

    /// Lock now, and each way in that does not lead in, before one that does.
    private static func locked(_ user: SampleUser, _ screen: Screen) async throws {
        try await user.taps("Lock now", on: screen, until: "locked") { screen.has("Unlock with Face ID") }
        user.look("locked now")
        let ways: [[SampleUser.Answer]] = [
            [.cancel], [.notRecognised, .notRecognised], [.passcodeButton, .notRecognised], [.notRecognised, .cancel],
        ]
        for way in ways {
            let before = user.prompts
            user.answers(way)
            try await user.taps("Unlock", on: screen, until: "\(way)") { user.isTurnedAway && user.prompts > before }
            #expect(user.prompts == before + way.count, "\(way)")
            try await user.leaves("locked, \(way)")
            // Whoever comes back is asked, and does not answer now either.
            user.answers(.cancel)
            try await user.returns("locked, \(way)")
            try await user.until("asked again", on: screen) { user.isTurnedAway }
        }
        user.answers(.passcodeButton, .yes)
        try await user.taps("Unlock", on: screen, until: "open") { !screen.has("Locked") }
        try await user.opened("by the passcode")
        #expect(screen.pictures("Your notes"))
    }
}

/// Over the models alone.
@MainActor private enum OwnFlow {
    static func run(_ user: SampleUser) async throws {
        user.content = ["Welcome back"]
        var screen = try await user.starts(OwnLockScreenApp())
        try await user.until("open", on: screen) { screen.pictures("Welcome back") }
        try await user.leavesAndReturns("off")
        #expect(screen.pictures("Welcome back"))
        try await user.turnsLockOn()
        try await user.leavesAndReturns("on")
        #expect(screen.pictures("Welcome back"))

        try await user.leaves("on")
        user.answers(.cancel)
        try await user.returns("on, not known")
        user.answers(.notRecognised, .notRecognised)
        try await user.taps("Let me in", on: screen, until: "refused") { user.isTurnedAway }
        user.look("refused")
        user.answers(.passcodeButton, .yes)
        try await user.taps("Let me in", on: screen, until: "open") { screen.has("Welcome back") }
        user.answers(.yes)
        screen = try await user.starts(OwnLockScreenApp())
        try await user.until("asked", on: screen) { !user.isLocked || user.isTurnedAway }
        if user.isLocked {
            user.answers(.yes)
            try await user.taps("Let me in", on: screen, until: "open") { screen.has("Welcome back") }
        }
        try await user.opened("a cold launch")
        try await user.leavesAndReturns("after a cold launch")
    }
}

/// A face, then the passcode, then the lesser store.
@MainActor private enum FallbackFlow {
    static func run(_ user: SampleUser) async throws {
        user.content = ["Done", "Allowed.", "Protection: device", "Protection: owner"]
        user.secrets.formUnion(["token", "draft"])
        var screen = try await user.starts(FallbackApp())
        try await user.until("open", on: screen) { screen.pictures("Protection: device") }
        try await user.taps("Store the token", on: screen, until: "stored") { screen.has("Done") }
        try await user.taps("Read it", on: screen, until: "read") { screen.has("Done") }
        try await user.leavesAndReturns("off")
        try await user.turnsLockOn()
        try await user.until("told", on: screen) { screen.has("Protection: owner") }
        user.answers(.yes)
        try await user.taps("Allow the lesser store", on: screen, until: "allowed") { screen.has("Allowed.") }
        try await user.leavesAndReturns("on")

        // Cancelled, nothing lesser is offered; where both failed it is.
        try await user.leaves("on")
        user.answers(.cancel)
        try await user.returns("cancelled")
        try await user.until("asked", on: screen) { user.isTurnedAway }
        #expect(!screen.nodes(.button).contains { $0.label == "Keep a draft without the lock" })
        user.answers(.notRecognised, .notRecognised)
        try await user.taps("Unlock", on: screen, until: "failed") {
            screen.nodes(.button).contains { $0.label == "Keep a draft without the lock" }
        }
        try await user.taps("Keep a draft without the lock", on: screen, until: "kept") { screen.has("Kept.") }
        user.look("a draft is kept")
        #expect(user.isLocked)
        try await user.leaves("a draft is kept")
        user.answers(.yes)
        try await user.returns("known")
        try await user.opened("known")
        try await user.taps("Read it", on: screen, until: "read") { screen.has("Done") }
        let vault = try #require(user.models).lock.app.vault
        #expect(try vault.inbox().map(\.originalName) == ["draft"])

        user.device { ($0.biometryEnrolled, $0.passcodeSet) = (false, false) }
        screen = try await user.starts(FallbackApp())
        try await user.until("nobody can be asked", on: screen) {
            screen.nodes(.button).contains { $0.label == "Keep a draft without the lock" }
        }
        user.look("nobody can be asked")
    }
}
