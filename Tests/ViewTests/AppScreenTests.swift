import Foundation
import Holdfast
import HoldfastUI
import SwiftUI
import TestSupport
import Testing
import UIKit

@testable import HoldfastViews

/// What the root of a scene shows in place of the app.
@MainActor @Suite(.serialized, .patient) struct AppScreenTests {
    private func screen(_ appModel: AppModel, _ language: String = "en") -> Screen {
        let screen = Screen(language: language) { AppView(appModel) { models in Content(models: models) } }
        screen.update()
        return screen
    }

    @Test(arguments: languages)
    func `a vault that cannot be used says why, and can be tried again`(_ language: String) throws {
        let scratch = try Scratch()
        let appModel = AppModel(at: scratch.path, interface: "test") { _ throws(VaultError) in
            throw VaultError(.newerVersion, "from the future")
        }
        let screen = screen(appModel, language)
        guard case .failed(.newerVersion) = appModel.phase else { throw Device.Failure.notReady }
        #expect(screen.faults == [] && screen.nodes(.button).count == 1)
        if language == "en" {
            try screen.tap("Try again")
            #expect(screen.has("The vault cannot be used"))
        }
    }

    @Test(arguments: languages)
    func `without a vault the assistant is there`(_ language: String) throws {
        let appModel = AppModel(at: try Scratch().path, interface: "test") { _ throws(VaultError) in
            throw VaultError(.noVault, "nothing here")
        }
        let screen = screen(appModel, language)
        #expect(screen.faults == [] && screen.nodes(.button).count == 1)
    }

    @Test(arguments: [AppModel.Ending.message, .startOver, .exit])
    func `the end leads to a new vault only where the app wants that`(_ ending: AppModel.Ending) async throws {
        let device = try Device()
        let appModel = await device.start(ending)
        appModel.noteDestroyed()
        let screen = screen(appModel)
        #expect(screen.has("This vault was destroyed. Its receipt is in its folder.") && screen.faults == [])
        #expect(screen.nodes(.button).map(\.label) == (ending == .startOver ? ["Begin a new vault"] : []))
        guard ending == .startOver else { return }
        try screen.tap("Begin a new vault")
        try await screen.until("open") { screen.pictures(Content.secret) }
    }

    @Test func `the texts are in the user's language, whatever the app itself is translated into`() throws {
        #expect(Bundle.main.localizations.filter(languages.contains).isEmpty)
        let found = [["de-AT", "en"], ["es-MX"], ["fr", "es"], ["zz"]].map {
            (Texts.bundle(in: .module, preferring: $0).bundlePath as NSString).lastPathComponent
        }
        #expect(found == ["de.lproj", "es.lproj", "es.lproj", "en.lproj"])
        let german = Texts.bundle(in: .module, preferring: ["de"])
        #expect(german.localizedString(forKey: "lock.title", value: nil, table: nil) == "Gesperrt")
    }

    @Test func `each prompt says why it asks, in words of the views or of the app`() async throws {
        let device = try Device()
        let models = try await device.models()
        models.protection.dialog.reason = "because we ask"
        let screen = Screen { Content(models: models) }
        try await screen.until("open") { models.settings.policy != nil && models.protection.protection != nil }
        try await device.turnLockOn(models)
        await models.protection.issuePhrase()
        device.finger.plays(.match)
        await models.protection.confirmPhrase()
        models.selfDestruct.request(.enable)
        device.finger.plays(.match)
        await models.selfDestruct.authenticate()
        #expect(
            device.finger.reasons == ["Change the security settings", "because we ask", "Change self-destruct"])
        await models.lock.play(.forceLock)
        device.finger.plays(.match)
        await models.lock.owner.unlock()
        #expect(device.finger.reasons.last == "Unlock your data")
    }
}
