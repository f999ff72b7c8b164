import HoldfastUI
import SwiftUI
import TestSupport
import Testing
import UIKit

@testable import HoldfastViews

/// Words on paper, by the printing of the device that it is.
@MainActor @Suite(.serialized, .patient) struct PaperTests {
    private func words(_ language: String = "en") -> Screen {
        let screen = Screen(language: language) {
            PhraseWords(owner: .vault, seconds: 30) { ["abandon", "ability"] }
        }
        screen.update()
        return screen
    }

    @Test(arguments: [UIUserInterfaceIdiom.phone, .pad, .mac])
    func `the words are printed on each device`(_ idiom: UIUserInterfaceIdiom) async throws {
        UIDevice.current.played(idiom)
        defer { UIDevice.current.played(.phone) }
        let controller = UIPrintInteractionController.shared
        let screen = words()
        try screen.tap("Print")
        #expect(try #require(controller.shown).contains(" 2. ability"))
        controller.ended(true)
        #expect(controller.printFormatter == nil, "the text went with it")
    }

    @Test(arguments: languages)
    func `where printing does not begin, the view says so`(_ language: String) async throws {
        let controller = UIPrintInteractionController.shared
        controller.isRefusing = true
        defer { controller.isRefusing = false }
        let screen = words(language)
        let before = screen.texts
        try screen.tap(Texts.test("phrase.print", language))
        #expect(controller.printFormatter == nil && screen.texts.count == before.count + 1 && screen.faults == [])
    }
}
