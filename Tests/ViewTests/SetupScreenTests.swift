import Foundation
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI
import TestSupport
import Testing

@MainActor @Suite(.serialized, .patient) struct SetupScreenTests {
    @Test(arguments: languages)
    func `each page has words, to the last one`(_ language: String) async throws {
        let scratch = try Scratch()
        scratch.has(PlayedSensor(.biometrics))
        let model = SetupModel(scratch, [.fingerprint])
        var isFinished = false
        let screen = Screen(language: language) { SetupView(model) { isFinished = true } }
        var seen: [SetupModel.Step] = []
        func look() {
            screen.update()
            seen.append(model.step)
            #expect(screen.faults == [], "\(model.step)")
        }
        look()
        model.begin()
        look()
        await model.choose(passcode: try secret("a passcode"), repeated: try secret("another"))
        look()
        await model.choose(passcode: try secret("a passcode"), repeated: try secret("a passcode"))
        look()
        let words = try #require(model.withPhrase(text)).split(separator: " ").map(String.init)
        model.phraseIsWritten()
        look()
        for position in model.positions { #expect(model.answer(words, position, isWrong: false)) }
        #expect(model.finishCheck())
        look()
        await model.finish()
        look()
        model.leaveOut()
        screen.update()
        #expect(isFinished && Set(seen).count == 6)
    }

    @Test(arguments: [ScenePhase.inactive, .background])
    func `the words are not on the picture when the scene leaves`(_ phase: ScenePhase) async throws {
        let scratch = try Scratch()
        let model = SetupModel(scratch)
        let screen = Screen { SetupView(model) {} }
        model.begin()
        await model.choose(passcode: try secret("a passcode"), repeated: try secret("a passcode"))
        screen.update()
        #expect(screen.pictures("24. "))
        screen.phase = phase
        screen.update()
        #expect(!screen.pictures("24. "))
    }

    @Test func `the words are covered while the screen is recorded, and the cover says why`() async throws {
        let scratch = try Scratch()
        let model = SetupModel(scratch)
        let screen = Screen { SetupView(model) {} }
        model.begin()
        await model.choose(passcode: try secret("a passcode"), repeated: try secret("a passcode"))
        screen.isCaptured = true
        screen.update()
        #expect(!screen.pictures("24. "))
        #expect(screen.has("Hidden while this screen is recorded or shown elsewhere."))
    }
}
