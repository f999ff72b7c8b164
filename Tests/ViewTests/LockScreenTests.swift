import AppleScripting
import Foundation
import Holdfast
import HoldfastUI
import SwiftUI
import TestSupport
import Testing
import UIKit

@testable import DeviceOwner
@testable import HoldfastViews

/// Content of an app that has its own lock screen.
private struct Branded: View {
    let models: ReadyModels

    var body: some View {
        var style = LockScreenStyle()
        style.title = Text(verbatim: "Notes is locked")
        style.icon = Image(systemName: "note")
        style.tint = .red
        style.footer = AnyView(
            Button {
            } label: {
                Text(verbatim: "Write to us")
            })
        return Text(verbatim: "behind").appLock(models).lockScreen(style)
    }
}

@MainActor @Suite(.serialized, .patient) struct LockScreenTests {
    @Test(arguments: languages)
    func `a lock screen in the app's own clothes asks and opens as ours does`(_ language: String) async throws {
        let scratch = try Scratch()
        let models = try await scratch.models()
        let screen = Screen(language: language) { Branded(models: models) }
        screen.update()
        #expect(screen.has("Notes is locked") && screen.has("Write to us") && screen.faults == [])
        #expect(screen.nodes(.secureField).count == 1)
        #expect(!screen.pictures("behind"))
        await models.lock.unlock(.passcode, try secret("right"))
        try await screen.until("open") { models.cover.shown == .nothing }
        screen.finishAnimations()
        #expect(screen.pictures("behind") && !screen.has("Notes is locked"))
    }

    @Test func `a window shows the app's own lock screen`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.models()
        var style = LockScreenStyle()
        style.title = Text(verbatim: "Notes is locked")
        let scene = UIWindowScene()
        let window = LockWindow(models, style: style)
        window.connect(to: scene)
        let screen = try #require(scene.windows.last { !$0.isHidden }?.screen)
        screen.update()
        #expect(screen.has("Notes is locked"))
    }

    @Test(arguments: languages)
    func `each reason and each problem has words`(_ language: String) {
        let problems: [VaultProblem] = [
            .wrongPasscode(remaining: 1), .wrongPIN(remaining: 1), .pinIsOver, .attemptsExhausted, .destroyed,
            .delayed(seconds: 3), .ownerUnavailable(.lockedOut), .passcodeNeeded(.start), .notRecognised,
        ]
        let screen = Screen(language: language) {
            ForEach(LockReason.allCases, id: \.self) { reason in
                Text(LockText.key(reason, .passcode), bundle: .module)
                Text(LockText.key(reason, .pin), bundle: .module)
            }
            ForEach(problems, id: \.self) { Text(ProblemText.key($0), bundle: .module) }
        }
        screen.update()
        #expect(screen.faults == [])
        #expect(screen.texts.count == LockReason.allCases.count * 2 + problems.count)
    }

    @Test(arguments: languages)
    func `every state says what it is and names its controls`(_ language: String) async throws {
        let scratch = try Scratch()
        scratch.has(PlayedSensor(.biometrics), PlayedSensor(.devicePasscode))
        let models = try await scratch.models()
        let lock = models.lock
        let screen = Screen(language: language) { LockView(lock) }
        try await screen.until("locked") { !screen.texts.isEmpty }
        #expect(screen.faults == [], "at launch")
        lock.choose(.recoveryPhrase)
        screen.update()
        #expect(screen.faults == [], "the phrase is asked for")
        lock.choose(.passcode)
        await lock.unlock(.passcode, try secret("wrong"))
        screen.update()
        #expect(screen.faults == [] && lock.remainingAttempts == 4, "refused")
        for word in ["two", "three"] { await lock.unlock(.passcode, try secret(word)) }
        screen.update()
        #expect(screen.faults == [] && lock.state == .delayed, "delayed")
        await lock.unlock(.recoveryPhrase, try secret("abandon abandon zzz"))
        screen.update()
        #expect(screen.faults == [], "words that are none")
        for number in 4...6 {
            scratch.clock.advance(seconds: 3600)
            await lock.refresh()
            await lock.unlock(.passcode, try secret("wrong \(number)"))
        }
        screen.update()
        #expect(screen.faults == [], "no attempt is left: \(lock.guidance)")
    }

    @Test func `a passcode is typed, a wrong one is refused, and the right one brings the content`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.models()
        let screen = Screen { Content(models: models) }
        try await screen.until("locked") { screen.has("Locked") }
        screen.finishAnimations()
        #expect(!screen.pictures(Content.secret) && screen.hasKeyboard)
        #expect(throws: Screen.Failure.self) { try screen.tap("Unlock") }
        try screen.type("wrong", into: "Passcode")
        try screen.tap("Unlock")
        try await screen.until("refused") {
            screen.has("That passcode is wrong.") && !screen.nodes(.secureField).contains(where: \.isDisabled)
        }
        try screen.type("right", into: "Passcode")
        try screen.submit("Passcode")
        try await screen.until("open") { !screen.has("Locked") && screen.has("Self-destruct") }
        screen.finishAnimations()
        #expect(screen.pictures(Content.secret) && screen.faults == [])
    }

    @Test(arguments: languages)
    func `the words open the vault for a new passcode too`(_ language: String) async throws {
        let scratch = try Scratch()
        let words = try scratch.create()
        let models = ReadyModels(try scratch.app(), interface: "test")
        await models.lock.handle(.launch)
        await models.lock.handle(.didBecomeActive)
        let screen = Screen(language: language) { LockView(models.lock) }
        models.lock.choose(.recoveryPhrase)
        screen.update()
        let fields = screen.nodes(.secureField).map(\.label)
        #expect(fields.count == 3 && screen.faults == [])
        let button = { try screen.find(Texts.test("lock.unlock", language)) }
        try screen.type(words, into: fields[0])
        #expect(try !button().isDisabled, "the words alone do, too")
        try screen.type("1234", into: fields[1])
        try screen.type("1234", into: fields[2])
        #expect(try button().isDisabled && screen.faults == [], "guessed at once")
        try screen.type("a better one now", into: fields[1])
        try screen.tap(button().label)
        #expect(models.lock.isLocked && screen.faults == [], "the two differ")
        try screen.type("a better one now", into: fields[2])
        try screen.tap(button().label)
        try await screen.until("open") { models.lock.state == .unlocked }
        await models.lock.play(.forceLock)
        await models.lock.unlock(.passcode, try secret("a better one now"))
        #expect(models.lock.state == .unlocked)
    }

    @Test func `what was half typed is gone when the app leaves`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.models()
        let screen = Screen { Content(models: models) }
        try await screen.until("locked") { screen.has("Locked") }
        try screen.type("righ", into: "Passcode")
        #expect(try screen.find("Passcode").shown == "righ")
        screen.phase = .background
        screen.update()
        screen.phase = .active
        try await screen.until("back") { screen.has("Locked") }
        #expect(try screen.find("Passcode").shown == "")
    }

    @Test(arguments: languages)
    func `after the end there is nothing to type into, and it says what happened`(_ language: String) async throws {
        let app = try await OpenApp(language: language)
        let vault = app.models.lock.app.vault
        _ = try vault.wipe(passcode: try secret("right"), spending: try vault.burnAttempt()) { _ in }
        await app.models.lock.play(.forceLock)
        try await app.screen.until("destroyed") { app.models.lock.state == .destroyed }
        try await app.screen.rest()
        app.screen.finishAnimations()
        #expect(app.screen.nodes(.secureField).isEmpty)
        #expect(app.screen.photograph().count == 1 && app.screen.faults == [])
    }

    @Test func `evaluating the screens asks the system nothing, but what it is once`() async throws {
        let app = try await OpenApp()
        try await app.screen.rest()
        let count = ScriptedDevice.ContextCount()
        try await ScriptedDevice.$contextCount.withValue(count) {
            for language in languages {
                let screen = Screen(language: language) {
                    LockView(app.models.lock)
                    SecuritySettings(app.models)
                }
                screen.update()
                try await screen.rest()
            }
        }
        #expect(count.value == 0)
    }
}
