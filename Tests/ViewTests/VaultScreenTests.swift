import Foundation
import Holdfast
import HoldfastUI
import SwiftUI
import TestSupport
import Testing
import UIKit
import VisionKit

@testable import HoldfastViews

@MainActor @Suite(.serialized, .patient) struct VaultScreenTests {
    /// An open app with its items in front.
    private func open(
        _ language: String = "en", isLockEnabled: Bool = true
    ) async throws -> (ReadyModels, Screen, Scratch) {
        let scratch = try Scratch()
        let models = try await scratch.open(isLockEnabled: isLockEnabled)
        let screen = Screen(language: language) { NavigationStack { VaultView(models) } }
        try await screen.until("read") { models.vault.isLoaded }
        return (models, screen, scratch)
    }

    private func makeLogin(_ models: ReadyModels, _ screen: Screen, _ words: (String) -> String) async throws {
        try screen.tap(words("item.new"))
        #expect(screen.presented == ["sheet"] && screen.faults == [])
        try screen.type("mail", into: words("item.name"))
        try screen.type("ada", into: words("item.label.username"))
        try screen.type("tower bridge", into: words("item.label.password"))
        try screen.type("asked for twice a year", into: words("item.notes"))
        try screen.tap(words("item.save"))
        try await screen.until("stored") { screen.presented == [] }
        screen.finishAnimations()
        try await screen.until("kinds") { models.vault.items.first?.kind == .login }
    }

    private func password(_ models: ReadyModels) throws -> String {
        let item = try ItemStore(models.lock.app.vault).item("mail")
        guard let field = item.field("password") else { return "" }
        return item.withValue(of: field, text)
    }

    private func open(_ name: String, _ screen: Screen) async throws {
        let row = try #require(screen.nodes(.button).first { $0.label.hasPrefix(name) })
        try screen.tap(row.label)
        try await screen.until("fields") { screen.texts.count > 3 }
    }

    @Test(arguments: languages)
    func `a login is made, opened, shown, copied, changed and thrown away`(_ language: String) async throws {
        let (models, screen, scratch) = try await open(language)
        defer { withExtendedLifetime(scratch) {} }
        func words(_ key: String) -> String { Texts.test(key, language) }
        #expect(screen.faults == [])
        try await makeLogin(models, screen, words)
        #expect(screen.faults == [])
        try await open("mail", screen)
        #expect(screen.faults == [] && screen.has("ada") && !screen.has("tower bridge"))
        #expect(!screen.has("asked for twice a year"))

        func press(_ key: String, _ number: Int) throws {
            screen.update()
            let buttons = screen.nodes(.button).filter { $0.label == words(key) }
            try #require(buttons.count > number)
            try screen.press(buttons[number])
        }
        try press("item.show", 0)
        try await screen.until("shown") { screen.has("tower bridge") }
        #expect(screen.faults == [])
        try press("item.copy", 1)
        try await screen.until("copied") { UIPasteboard.general.text == "tower bridge" }
        #expect(UIPasteboard.general.seconds.map { $0 > 0 && $0 <= 30 } == true)
        try press("item.hide", 0)
        try await screen.until("hidden") { !screen.has("tower bridge") }

        try press("item.edit", 1)
        try await screen.until("editing") { (try? screen.find(words("item.newValue"))) != nil }
        #expect(try screen.find(words("item.newValue")).shown == "", "a secret is not shown while it is replaced")
        try screen.tap(words("item.generate"))
        let generated = try #require(try screen.find(words("item.newValue")).shown)
        #expect(generated.utf8.count == PasswordRules().length && !screen.pictures(generated))
        try screen.tap(words("item.save"))
        try await screen.until("changed") { (try? password(models)) == generated }
        #expect(screen.nodes(.secureField).isEmpty && models.vault.items.count == 1)
        try press("item.edit", 2)
        try await screen.until("notes") { (try? screen.find(words("item.newValue")).shown) == "asked for twice a year" }
        try screen.type("never", into: words("item.newValue"))
        try screen.tap(words("item.save"))
        try await screen.until("saved") {
            (try? ItemStore(models.lock.app.vault).item("mail").withNotes(text)) == "never"
        }
        #expect(screen.faults == [])

        try screen.tap(words("item.delete"))
        try await screen.until("gone") { screen.presented == [] && models.vault.items.isEmpty }
        screen.finishAnimations()
        #expect(screen.has(words("item.none")) && screen.faults == [])
    }

    @Test func `a secret that is shown is on no picture, also where the app lock is off`() async throws {
        let (models, screen, scratch) = try await open(isLockEnabled: false)
        defer { withExtendedLifetime(scratch) {} }
        try await makeLogin(models, screen) { Texts.test($0, "en") }
        try await open("mail", screen)
        try screen.tap("Show")
        try await screen.until("shown") { screen.pictures("tower bridge") }
        for phase in [ScenePhase.inactive, .background] {
            screen.phase = phase
            screen.update()
            #expect(!screen.pictures("tower bridge"))
        }
        screen.phase = .active
        screen.isCaptured = true
        screen.update()
        #expect(!screen.pictures("tower bridge"))
    }

    @Test func `a lock takes the item away, and nothing of it is there when the app is open again`() async throws {
        let (models, screen, scratch) = try await open()
        defer { withExtendedLifetime(scratch) {} }
        try await makeLogin(models, screen) { Texts.test($0, "en") }
        try await open("mail", screen)
        try screen.tap("Show")
        try await screen.until("shown") { screen.has("tower bridge") }
        await models.lock.play(.forceLock)
        try await screen.until("gone") { screen.presented == [] }
        screen.finishAnimations()
        #expect(!screen.pictures("tower bridge") && !screen.pictures("mail"))
        await models.lock.unlock(.passcode, try secret("right"))
        await models.load()
        try await screen.until("back") { screen.nodes(.button).contains { $0.label.hasPrefix("mail") } }
        #expect(screen.presented == [])
    }

    @Test(arguments: languages)
    func `a one-time code runs when its page is opened, a tap copies it, and it is on no picture`(_ language: String)
        async throws
    {
        let (models, screen, scratch) = try await open(language, isLockEnabled: false)
        defer { withExtendedLifetime(scratch) {} }
        var login = try Item(.login)
        try login.add(.oneTimeCode, "code", secret("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ&period=3600"))
        try login.add(.oneTimeCode, "counter", secret("otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQ&counter=7"))
        try ItemStore(models.lock.app.vault).add(login, as: "mail")
        await models.vault.load()
        try await screen.until("kinds") { models.vault.items.first?.kind == .login }
        try await open("mail", screen)
        func digits(_ moment: OneTimeCode.Moment) throws -> String {
            let now = UInt64(Date.now.timeIntervalSince1970)
            return try OneTimeCode(key: secret("1234567890"), moment: moment).code(at: now).withBytes { text($0) }
        }
        // An hour may end meanwhile.
        var codes = [try digits(.time(period: 3600))]
        try await screen.until("code") { !screen.nodes(.progress).isEmpty }
        codes.append(try digits(.time(period: 3600)))
        let code = try #require(screen.nodes(.button).first { codes.contains($0.label) })
        let left = screen.nodes(.progress).compactMap { Int($0.label.filter(\.isNumber)) }
        #expect(left.count == 1 && (1...3600).contains(left[0]) && screen.faults == [])
        try screen.press(code)
        try await screen.until("copied") { codes.contains(UIPasteboard.general.text ?? "") }
        let next = try digits(.counter(7))
        #expect(!screen.has(next), "a code by a counter is used up when it is shown")
        try screen.tap(Texts.test("item.nextCode", language))
        try await screen.until("next") { screen.has(next) }
        #expect(screen.faults == [])
        screen.phase = .inactive
        screen.update()
        #expect(!screen.pictures(code.label) && !screen.pictures(next))
    }

    @Test(
        arguments: zip(
            languages,
            [
                ["Items", "Identity", "Security"], ["Einträge", "Identität", "Sicherheit"],
                ["Elementos", "Identidad", "Seguridad"],
            ]))
    func `tabs are called in the user's language`(_ language: String, _ titles: [String]) {
        let screen = Screen(language: language) {
            VStack {
                VaultView.title
                IdentityView.title
                SecuritySettings.title
            }
        }
        screen.update()
        #expect(screen.texts == titles && screen.faults == [])
    }

    @Test(arguments: languages)
    func `the command locks where there is something to lock`(_ language: String) async throws {
        let device = try Device()
        let appModel = await device.start()
        let screen = Screen(language: language) { LockNowButton(appModel: appModel) }
        screen.update()
        #expect(screen.nodes(.button).first?.isDisabled == true && screen.faults == [])
        guard case .ready(let models) = appModel.phase else { throw Device.Failure.notReady }
        await models.lock.handle(.didBecomeActive)
        await models.load()
        try await device.turnLockOn(models)
        screen.update()
        try screen.tap(Texts.test("lock.now", language))
        try await screen.until("locked") { models.lock.isLocked && screen.nodes(.button).first?.isDisabled == true }
    }

    @Test func `the camera's first code is taken, and the camera stops`() throws {
        var found: [String] = []
        let screen = Screen { CodeScanner { found.append($0) } }
        screen.update()
        let camera = try #require(screen.controllers.first as? DataScannerViewController)
        #expect(camera.isScanning)
        camera.played("a container")
        camera.played("another one")
        #expect(found == ["a container"] && !camera.isScanning)
        #expect(!CodeScanner.isAvailable, "without a sentence in Info.plist the camera would end the app")
    }
}
