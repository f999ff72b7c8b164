import Foundation
import FoundationGaps
import Holdfast
import HoldfastUI
import SwiftUI
import TestSupport
import Testing
import UIKit

@testable import HoldfastViews

/// The import of a file, as its user sees it: chosen in the system's picker, from outside of the app's container.
@MainActor @Suite(.serialized, .patient) struct ImportScreenTests {
    private static let table = """
        name,url,username,password
        mail,https://mail.example,ada,purple hammer
        mail,https://mail.example,ada,purple hammer
        shop,https://shop.example,bob,yellow hammer

        """
    /// What an export of Bitwarden is protected with: a login, under few rounds of PBKDF2.
    private static let password = "p\u{e4}ssword"
    private static let sealed = """
        {
            "encrypted": true,
            "passwordProtected": true,
            "salt": "c2FsdHNhbHQ=",
            "kdfType": 0,
            "kdfIterations": 1000,
            "encKeyValidation_DO_NOT_EDIT": "2.AAECAwQFBgcICQoLDA0ODw==|l5T1SNV4TOgq2oI82UgY4kDh\
        E/xCH+N8RPApQxsL4+nbzSCsdshEqE5DweaGefUy|5yvbZzwO40zLx0SokVTEi+Cah8rdQpWarVUaVdfB03w=",
            "data": "2.EBESExQVFhcYGRobHB0eHw==|sXisWtJWi9Saj6tg6xI83WQYGj3p13uy296nY8glOFIW17yS\
        CsIF3JizepLtof4LnKgzovcZyd2TquQE7lmxP3OaHd31WIo6nuYPgjxm0da4xE42jvT6+wd6xP/sAnUwZg21Ym7s\
        uDCJXo7aV34xpNKHKa8619Dw98G6Li2EgzUkYqVexZ2aMX2hMZLmLgWB|z9grDrw3qA4XhYxn+Dyraz6P7x1FgnF\
        Tfy9zIGghqAA="
        }
        """

    private struct Importing {
        let models: ReadyModels
        let screen: Screen
        let scratch: Scratch
        let language: String

        func words(_ key: String) -> String { Texts.test(key, language) }

        /// A text with a number in it.
        func words(_ key: String, _ number: Int) -> String {
            words("\(key) %lld").replacingOccurrences(of: "%lld", with: "\(number)")
        }

        @MainActor func choose(_ name: String, _ text: String) throws {
            let path = try scratch.file(name, Data(text.utf8))
            try screen.tap(words("import.choose"))
            #expect(screen.presented == ["sheet", "files"])
            try screen.choose(URL(fileURLWithPath: path))
            screen.finishAnimations()
        }
    }

    private func open(_ language: String = "en") async throws -> Importing {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let screen = Screen(language: language) { NavigationStack { VaultView(models) } }
        try await screen.until("read") { models.vault.isLoaded }
        let importing = Importing(models: models, screen: screen, scratch: scratch, language: language)
        try screen.tap(importing.words("import.title"))
        #expect(screen.presented == ["sheet"] && screen.faults == [] && screen.has(importing.words("import.advice")))
        return importing
    }

    @Test(arguments: languages)
    func `a file is chosen, seen as a plan and stored, and its user is told to delete it`(_ language: String)
        async throws
    {
        let importing = try await open(language)
        let (models, screen) = (importing.models, importing.screen)
        try importing.choose("table.csv", ImportScreenTests.table)
        try await screen.until("plan") { screen.has(importing.words("import.added", 3)) }
        #expect(screen.has("mail") && screen.has("mail (2)") && screen.has("shop"))
        #expect(screen.faults == [] && !screen.pictures("hammer") && models.vault.items.isEmpty)
        #expect(SecurityScope.open == [], "what was begun is ended")
        try screen.tap(importing.words("import.store"))
        try await screen.until("stored") { screen.has(importing.words("import.stored", 3)) }
        #expect(screen.has(importing.words("import.remove")) && screen.faults == [])
        try screen.tap(importing.words("item.done"))
        try await screen.until("list") { screen.presented == [] }
        screen.finishAnimations()
        try await screen.until("items") { models.vault.items.map(\.name) == ["mail", "mail (2)", "shop"] }
    }

    @Test(arguments: languages)
    func `a database asks for its password, and takes the right one`(_ language: String) async throws {
        let importing = try await open(language)
        let (models, screen) = (importing.models, importing.screen)
        try importing.choose("export.json", ImportScreenTests.sealed)
        try await screen.until("password") { screen.has(importing.words("import.encrypted")) }
        #expect(screen.faults == [] && SecurityScope.open == [])
        #expect(try screen.find(importing.words("import.open")).isDisabled)
        try screen.type("wrong", into: importing.words("import.password"))
        try screen.tap(importing.words("import.open"))
        try await screen.until("wrong") { screen.has(importing.words("import.wrongPassword")) }
        #expect(try screen.find(importing.words("import.password")).shown == "", "what was typed is gone")
        try screen.type(ImportScreenTests.password, into: importing.words("import.password"))
        try screen.submit(importing.words("import.password"))
        try await screen.until("plan") { screen.has(importing.words("import.added", 1)) }
        try screen.tap(importing.words("import.store"))
        try await screen.until("stored") { models.vault.items.map(\.name) == ["mail"] }
    }

    @Test(arguments: languages)
    func `what cannot be imported says why, and another file can be chosen`(_ language: String) async throws {
        let importing = try await open(language)
        let screen = importing.screen
        try screen.tap(importing.words("import.choose"))
        try screen.choose(nil)
        screen.finishAnimations()
        #expect(screen.presented == ["sheet"] && screen.has(importing.words("import.advice")), "nothing was chosen")
        for (name, text, key) in [
            ("zero", "\u{0}\u{1}", "unknownFormat"), ("broken.json", "{\"items\": [", "damaged"),
            ("odd.csv", "one,two\n1,2\n", "unknownColumns"),
        ] {
            try importing.choose(name, text)
            try await screen.until(name) { screen.has(importing.words("import." + key)) }
            #expect(screen.has(importing.words("import.failed")) && screen.faults == [] && SecurityScope.open == [])
        }
        try importing.choose("table.csv", ImportScreenTests.table)
        try await screen.until("plan") { screen.has(importing.words("import.added", 3)) }
    }

    @Test func `a key file is chosen beside the password, and read only while the database is opened`() async throws {
        let importing = try await open()
        let screen = importing.screen
        let key = try importing.scratch.file("a.key", Data("any file".utf8))
        // A header is enough to be asked for both.
        let database = try importing.scratch.file("a.kdbx", Data([0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5, 0]))
        try screen.tap("Choose a file")
        try screen.choose(URL(fileURLWithPath: database))
        screen.finishAnimations()
        try await screen.until("password") { screen.has("The file is encrypted with a password of its own.") }
        try screen.tap("Choose a key file")
        try screen.choose(URL(fileURLWithPath: key))
        screen.finishAnimations()
        #expect(screen.has("a.key") && SecurityScope.open == [] && !FileManager.default.fileExists(atPath: key))
        try screen.tap("Open")
        try await screen.until("read") { screen.has("The file is damaged.") }
        #expect(SecurityScope.open == [] && screen.faults == [])
    }

    @Test func `a lock takes the import away with what was read`() async throws {
        let importing = try await open()
        let (models, screen) = (importing.models, importing.screen)
        try importing.choose("table.csv", ImportScreenTests.table)
        try await screen.until("plan") { screen.has("New items: 3") }
        await models.lock.play(.forceLock)
        try await screen.until("gone") { screen.presented == [] }
        screen.finishAnimations()
        #expect(!screen.pictures("shop"))
        await models.lock.unlock(.passcode, try secret("right"))
        await models.load()
        try screen.tap("Import a file")
        #expect(screen.has(importing.words("import.advice")) && models.vault.items.isEmpty)
    }
}
