import Foundation
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI
import TestSupport
import Testing
import UIKit

/// Content with a field, and a button that has a shortcut.
private struct Desk: View {
    let models: ReadyModels
    let struck: @MainActor () -> Void
    @State private var note = Content.secret
    @State private var shows = false

    var body: some View {
        VStack {
            TextField(text: $note, prompt: nil) { Text(verbatim: "Note") }
            Button {
                struck()
            } label: {
                Text(verbatim: "Send")
            }
            .keyboardShortcut("s")
            Button {
                shows = true
            } label: {
                Text(verbatim: "Open")
            }
        }
        .fullScreenCover(isPresented: $shows) { Sheet(models: models, struck: struck) }
        .appLock(models)
    }
}

/// A sheet of the app's own.
private struct Sheet: View {
    let models: ReadyModels
    let struck: @MainActor () -> Void
    @State private var draft = "a draft"

    var body: some View {
        VStack {
            TextField(text: $draft, prompt: nil) { Text(verbatim: "Draft") }
            Button {
                struck()
            } label: {
                Text(verbatim: "Send")
            }
            .keyboardShortcut("d")
        }
        .covered(by: models)
    }
}

/// What lies below a cover or a lock screen is out of reach: of touches, of the keyboard, and of shortcuts.
@MainActor @Suite(.serialized, .patient) struct ReachTests {
    enum Leaving: CaseIterable { case interrupted, recorded, locked }

    private func desk(_ models: ReadyModels, _ struck: @escaping @MainActor () -> Void) async throws -> Screen {
        let screen = Screen { Desk(models: models, struck: struck) }
        try await screen.until("open") { models.cover.shown == .nothing }
        screen.finishAnimations()
        return screen
    }

    private func leave(_ screen: Screen, _ models: ReadyModels, _ way: Leaving) async throws {
        switch way {
        case .interrupted: screen.phase = .inactive
        case .recorded: screen.isCaptured = true
        case .locked: models.lock.lock()
        }
        screen.update()
        try await screen.rest()
        screen.finishAnimations()
    }

    @Test(arguments: Leaving.allCases, [false, true])
    func `keys and shortcuts do not reach what is covered`(_ way: Leaving, _ isInSheet: Bool) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        var count = 0
        let screen = try await desk(models) { count += 1 }
        if isInSheet { try screen.tap("Open") }
        let (field, key): (String, KeyEquivalent) = isInSheet ? ("Draft", "d") : ("Note", "s")
        #expect(screen.shortcut(key) && count == 1)
        try screen.type("typed", into: field)
        #expect(screen.strike("typed before") && screen.hasKeyboard)

        try await leave(screen, models, way)
        #expect(try screen.find(field, [.field]).isDisabled)
        #expect(!screen.shortcut(key) && !screen.shortcut("s") && count == 1, "no shortcut")
        screen.strike("typed below")
        #expect(try screen.find(field, [.field]).shown == "typed before", "no key")
    }

    @Test func `where nothing is typed at the lock screen, nothing has the keyboard`() async throws {
        let device = try Device()
        let models = try await device.models()
        try await device.turnLockOn(models)
        let screen = try await desk(models) {}
        try screen.type("typed", into: "Note")
        models.lock.lock()
        try await screen.until("locked") { screen.has("Locked") }
        try await screen.rest()
        #expect(screen.nodes(.secureField).isEmpty && !screen.hasKeyboard && !screen.strike("keys"))
        // A prompt that came by itself has ended.
        try await screen.until("asked") { !models.lock.owner.isUnlocking }
        device.finger.plays(.match)
        await models.lock.owner.unlock()
        try await screen.until("open") { models.cover.shown == .nothing }
        screen.finishAnimations()
        #expect(try screen.shortcut("s") && !screen.find("Note").isDisabled)
    }

    @Test(arguments: [false, true])
    func `a sheet of the app's own shows the lock screen, and is unlocked there`(_ lastGetsKeyboard: Bool) async throws
    {
        Screen.lastGetsKeyboard = lastGetsKeyboard
        defer { Screen.lastGetsKeyboard = true }
        let scratch = try Scratch()
        let models = try await scratch.open()
        let screen = try await desk(models) {}
        try screen.tap("Open")
        #expect(screen.presented == ["cover"])
        models.lock.lock()
        try await screen.until("locked") { screen.has("Locked") }
        screen.finishAnimations()
        #expect(screen.presented == ["cover"] && screen.nodes(.secureField).count == 1 && screen.hasKeyboard)
        #expect(!screen.pictures("a draft") && !screen.pictures(Content.secret))
        #expect(try screen.strike("right") && screen.find("Passcode").shown == "right", "and not the one below it")
        try screen.tap("Unlock")
        try await screen.until("open") { models.cover.shown == .nothing }
        screen.finishAnimations()
        #expect(screen.presented == ["cover"] && screen.pictures("a draft") && screen.faults == [])
    }

    @Test func `an interruption brings a cover over such a sheet, and no lock screen`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let screen = try await desk(models) {}
        try screen.tap("Open")
        screen.phase = .inactive
        screen.update()
        #expect(!screen.pictures("a draft") && screen.nodes(.secureField).isEmpty)
    }
}
