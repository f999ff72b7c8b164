import AppKit
import AppLockCore
import Foundation
import Holdfast
import HoldfastUI
import SwiftUI
import TestSupport
import Testing
import UIKit

@testable import HoldfastViews

/// What a system tells, and what a lock makes of it. What hears it stands in this suite: a test that runs beside it
/// would, too.
@MainActor @Suite(.serialized, .patient) struct DeviceSignalsTests {
    /// What an unlocked lock is told of a Mac's notifications, by the names that AppKit's and the session's have.
    private func events(_ names: [String]) throws -> [LockEvent] {
        var screen = ScreenAbsence()
        return try names.compactMap { name in
            let signal = try #require(SystemSignal.appKit.first { $0.name.rawValue == name }, "\(name)")
            return screen.event(for: signal.meaning)
        }
    }

    @Test(arguments: [
        (
            ["NSWorkspaceScreensDidSleepNotification", "NSWorkspaceScreensDidWakeNotification"],
            [LockEvent.systemLocked, .systemUnlocked]
        ),
        (
            ["NSWorkspaceSessionDidResignActiveNotification", "NSWorkspaceSessionDidBecomeActiveNotification"],
            [.userSwitchedAway, .userSwitchedBack]
        ),
        (["NSWorkspaceWillSleepNotification", "NSWorkspaceDidWakeNotification"], [.suspended, .resumed]),
        (["com.apple.screenIsLocked", "com.apple.screenIsUnlocked"], [.systemLocked, .systemUnlocked]),
        // A display that wakes up shows the screen's lock first.
        (
            [
                "com.apple.screenIsLocked", "NSWorkspaceScreensDidSleepNotification",
                "NSWorkspaceScreensDidWakeNotification",
            ],
            [.systemLocked, .systemLocked]
        ),
        (
            [
                "NSWorkspaceScreensDidSleepNotification", "com.apple.screenIsLocked",
                "NSWorkspaceScreensDidWakeNotification",
                "com.apple.screenIsUnlocked",
            ], [.systemLocked, .systemLocked, .systemUnlocked]
        ),
        // Nothing that was lost keeps it shut.
        (["NSWorkspaceScreensDidSleepNotification", "com.apple.screenIsUnlocked"], [.systemLocked, .systemUnlocked]),
        (["com.apple.screenIsLocked", "NSApplicationDidBecomeActiveNotification"], [.systemLocked, .systemUnlocked]),
        (
            [
                "NSApplicationDidBecomeActiveNotification", "NSWorkspaceScreensDidWakeNotification",
                "com.apple.screenIsUnlocked",
            ], []
        ),
        (["NSWindowDidMiniaturizeNotification"], [.minimised]),
    ])
    func `a Mac's notifications become the lock's events`(_ names: [String], _ events: [LockEvent]) throws {
        #expect(try self.events(names) == events)
    }

    @Test func `what takes the user away has its end in the table, on each system`() {
        var (leaving, coming): (Set<SystemSignal.Meaning>, Set<SystemSignal.Meaning>) = ([], [])
        let ends: [SystemSignal.Meaning: SystemSignal.Meaning] = [
            .event(.systemLocked): .event(.systemUnlocked), .event(.userSwitchedAway): .event(.userSwitchedBack),
            .event(.suspended): .event(.resumed), .displaySlept: .displayWoke, .screenLocked: .screenUnlocked,
        ]
        for table in [SystemSignal.uiKit, SystemSignal.appKit] {
            let meanings = Set(table.map(\.meaning))
            leaving = meanings.filter { ends[$0] != nil }
            coming = meanings.filter { ends.values.contains($0) }
            #expect(!leaving.isEmpty && Set(leaving.compactMap { ends[$0] }) == coming)
            #expect(Set(table.map(\.name)).count == table.count)
        }
    }

    private func post(_ name: NSNotification.Name) async { await tell(NSWorkspace.shared.notificationCenter, name) }

    @Test func `a display that slept and woke up leads to a prompt`() async throws {
        let device = try Device()
        let models = try await device.models()
        try await device.turnLockOn(models)
        let signals = DeviceSignals(models.lock, SystemSignal.appKit)
        let before = device.finger.prompts
        await post(NSWorkspace.screensDidSleepNotification)
        await until { models.lock.isLocked }
        device.finger.plays(.match)
        await post(NSWorkspace.screensDidWakeNotification)
        await until { !models.lock.isLocked && models.cover.shown == .nothing }
        #expect(device.finger.prompts == before + 1)
        withExtendedLifetime(signals) {}
    }

    @Test func `where that does not lock, the cover goes when the display wakes up`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        models.settings.request(.timing(.fiveMinutes))
        await models.settings.prove(passcode: try secret("right"))
        #expect(models.settings.failure == nil && models.settings.policy?.lockTiming == .fiveMinutes)
        try await models.lock.app.lock.setTriggers([])
        let signals = DeviceSignals(models.lock, SystemSignal.appKit)
        await post(NSWorkspace.screensDidSleepNotification)
        await until { models.cover.shown == .cover }
        await post(NSWorkspace.screensDidWakeNotification)
        await until { models.cover.shown == .nothing }
        #expect(models.lock.state == .unlocked)
        withExtendedLifetime(signals) {}
    }

    @Test func `a screen that was locked is told by the session alone`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let signals = DeviceSignals(models.lock, SystemSignal.appKit)
        let session = DistributedNotificationCenter.default()
        await tell(session, NSNotification.Name("com.apple.screenIsLocked"))
        await until { models.lock.isLocked }
        #expect(models.lock.reason == .systemLock)
        withExtendedLifetime(signals) {}
    }

    @Test func `the last window that goes to the Dock minimises the app`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let signals = DeviceSignals(models.lock, SystemSignal.appKit)
        await tell(.default, NSWindow.didMiniaturizeNotification)
        await until { models.cover.shown != .nothing }
        withExtendedLifetime(signals) {}
    }

    @Test func `a vault that was begun anew is told of the device, and the one before is not`() async throws {
        let device = try Device()
        let appModel = await device.start(.startOver)
        guard case .ready(let first) = appModel.phase else { throw Device.Failure.notReady }
        await first.load()
        try await device.turnLockOn(first)
        let screen = Screen { AppView(appModel) { models in Content(models: models) } }
        try await screen.until("open") { screen.pictures(Content.secret) }
        await first.lock.play(.forceLock)
        #expect(await appModel.startOver() == nil)
        guard case .ready(let second) = appModel.phase, second !== first else { throw Device.Failure.notReady }
        await second.load()
        try await device.turnLockOn(second)
        try await screen.until("open") { screen.pictures(Content.secret) && second.lock.isEnabled }
        await tell(.default, UIApplication.protectedDataWillBecomeUnavailableNotification)
        try await screen.until("locked") { second.lock.isLocked }
    }
}
