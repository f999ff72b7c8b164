import AppleScripting
import Foundation
import Holdfast
import HoldfastUI
import SwiftUI
import TestSupport
import Testing
import UIKit

/// Who uses a sample: in a process of its own, with a home, a keychain and a device that nobody else has. Each picture
/// that the system would take on the way is looked at.
@MainActor final class SampleUser {
    private let device = ScriptedDevice.current
    /// What the device answers next; without any, it does not know who is there.
    enum Answer: Int { case yes = 0, notRecognised = -1, cancel = -2, passcodeButton = -3, nothing = 1 }
    /// The scenes of the app, the first one in front.
    var scenes: [any SampleScene] = []
    var models: ReadyModels?
    /// What is on no picture of a scene that is not in front, whatever the lock is: it can be shown to who looks at it.
    var hidden: Set<String> = []
    /// What is on no picture at all.
    var secrets: Set<String> = [SampleUser.passcode, "half typed"]
    /// What can be seen while the app is open, and on no picture where the lock is on.
    var content: Set<String> = []

    private init() {}

    /// Plays a flow from beginning to end, in a process that was started for that, and ends the process.
    /// - Parameters:
    ///   - home: An empty folder, as a device gives one to a new app.
    ///   - endsItself: Whether the app ends the process.
    static func plays(
        in home: String, endsItself: Bool = false, _ flow: @MainActor (SampleUser) async throws -> Void
    ) async -> Never {
        unsafe setenv("CFFIXED_USER_HOME", home, 1)
        do {
            try #require(NSHomeDirectory() == home)
            try await flow(SampleUser())
            if endsItself { Issue.record("the process goes on") }
        } catch {
            // Thrown out of here, it would end the process without a word.
            Issue.record("\(error); prompts: \(ScriptedDevice.current.with(\.prompts))")
        }
        endSample()
    }

    func answers(_ answers: Answer...) { self.answers(answers) }
    func answers(_ answers: [Answer]) {
        device.with {
            $0.answers = answers.map {
                $0 == .yes ? .success : $0 == .nothing ? .waitsForInvalidation : .failure($0.rawValue)
            }
        }
    }
    /// How often the device has asked.
    var prompts: Int { device.with { $0.prompts.count } }
    /// Whether the device has given all its answers.
    var hasAnswered: Bool { device.with { $0.answers.isEmpty } }
    func timePasses(seconds: Int) { device.timePasses(seconds: seconds) }
    func device(_ change: (inout ScriptedDevice.State) -> Void) { device.with(change) }

    /// Starts an app of SwiftUI's, in two windows. The first one is the one that is used.
    func starts<A: App>(_ app: A) async throws -> Screen {
        let running = RunningApp(app)
        let screens = [running.window(), running.window()]
        for screen in screens { screen.update() }
        scenes = screens
        models = try await running.models()
        return screens[0]
    }

    /// Has the lock turned on, where the sample leaves that to its settings.
    func turnsLockOn() async throws {
        let settings = try #require(models).settings
        answers(.yes)
        await settings.look()
        settings.request(.lock(true))
        await settings.confirm()
        try #require(settings.failure == nil)
        try await opened("turned on")
        try await settles { try self.first }
    }

    /// Presses a button, and waits for what it leads to.
    func taps(_ label: String, on screen: Screen, until what: String, _ condition: () -> Bool) async throws {
        try await until("\(label) can be pressed", on: screen) { (try? screen.find(label))?.isDisabled == false }
        try screen.tap(label)
        try await until("\(label): \(what)", on: screen, condition)
    }

    func until(_ what: String, on screen: Screen? = nil, _ condition: () -> Bool) async throws {
        try await (screen ?? first).until(what, seconds: 60, condition)
    }

    // MARK: Pictures

    var isLockOn: Bool { models?.lock.isEnabled ?? false }
    var isLocked: Bool { models?.lock.isLocked ?? true }
    /// Whether it is still locked although the device has answered all that it was asked.
    var isTurnedAway: Bool {
        guard let lock = models?.lock, hasAnswered else { return false }
        return lock.isLocked && !lock.owner.isUnlocking && lock.owner.dialog.step == nil
    }

    /// The words of a phrase that is there to be written down, alone and as they are numbered.
    private var shownWords: Set<String> {
        guard let models else { return [] }
        var found: Set<String> = []
        for phrase in [models.protection.withPhrase(text), models.identity.withPhrase(text)].compactMap(\.self) {
            let words = phrase.split(separator: " ")
            found.formUnion(words.enumerated().map { "\($0 + 1). \($1)" })
            found.formUnion(zip(words, words.dropFirst()).map { "\($0) \($1)" })
        }
        return found
    }

    /// Looks at one picture.
    private func look(_ scene: any SampleScene, _ moment: String, isInFront: Bool = false) {
        let words = scene.screens.flatMap { $0.photograph() }
        // Also when they are no longer the model's: a sheet that goes shows what it showed.
        hidden.formUnion(shownWords)
        // What was asked for is shown to who looks at it.
        var unseen = isInFront && !isLocked ? secrets : secrets.union(hidden)
        if isLockOn, isLocked || !isInFront { unseen.formUnion(content) }
        for secret in unseen {
            #expect(!words.contains { $0 == secret || secret.count > 8 && $0.contains(secret) }, "\(moment): \(secret)")
        }
    }

    private func goes(_ scene: any SampleScene, _ phase: ScenePhase, _ moment: String) async throws {
        let isInFront = phase == .active
        scene.goes(phase)
        // The system takes its picture at once, while things move, and whenever it likes to later.
        look(scene, "\(moment), \(phase)", isInFront: isInFront)
        try await scene.rest()
        look(scene, "\(moment), \(phase), moving", isInFront: isInFront)
        scene.finishAnimations()
        look(scene, "\(moment), \(phase), later", isInFront: isInFront)
    }

    /// Each scene is left alone; then the app, by an interruption and for good. Whoever comes back is known by the
    /// device.
    func leavesAndReturns(_ moment: String) async throws {
        for (number, scene) in scenes.enumerated() where scenes.count > 1 {
            for phase in [ScenePhase.inactive, .background, .inactive, .active] {
                try await goes(scene, phase, "\(moment), scene \(number)")
            }
        }
        for scene in scenes { try await goes(scene, .inactive, moment) }
        for scene in scenes { try await goes(scene, .active, moment) }
        try await leaves(moment)
        answers(.yes, .yes)
        try await returns(moment)
        if isLockOn { try await typesPasscode(moment) }
        try await opened(moment)
    }

    func leaves(_ moment: String) async throws {
        for phase in [ScenePhase.inactive, .background] {
            for scene in scenes { try await goes(scene, phase, moment) }
        }
        // Also what the device was asked meanwhile is over then.
        if isLockOn, let lock = models?.lock { try await until("locked") { lock.isLocked && !isBusy } }
        for scene in scenes { look(scene, "\(moment), away") }
        // What belongs to the content is disabled with it: above a lock screen it would be in the way for good.
        if isLocked {
            #expect(
                !scenes.contains { $0.screens.contains { ["alert", "dialog"].contains($0.presented.last) } },
                "\(moment)")
        }
    }

    func returns(_ moment: String) async throws {
        for phase in [ScenePhase.inactive, .active] {
            for scene in scenes { try await goes(scene, phase, moment) }
        }
    }

    /// Looks at all scenes, which are in front.
    func look(_ moment: String) { for scene in scenes { look(scene, moment, isInFront: true) } }

    /// Whether it is open, and nothing moves any more.
    func opened(_ moment: String) async throws {
        guard let models else { return }
        try await until("\(moment): open") { !models.lock.isLocked && models.cover.shown == .nothing }
        for scene in scenes {
            try await scene.rest()
            scene.finishAnimations()
        }
    }

    /// Of the scene that is used: what stands in front.
    var first: Screen {
        get throws {
            guard let screen = scenes.first?.screens.first else {
                throw Screen.Failure(description: "nothing is shown")
            }
            return screen
        }
    }
}

/// A scene of an app, as its user and the system see it.
@MainActor protocol SampleScene: AnyObject {
    func goes(_ phase: ScenePhase)
    /// From the front to the back, as far as something can be seen.
    var screens: [Screen] { get }
    /// With those that cannot.
    var all: [Screen] { get }
}
extension SampleScene {
    /// What continues by itself does so for a moment.
    func rest() async throws {
        for _ in 0..<4 {
            try await Task.sleep(for: .milliseconds(1))
            for screen in all { screen.update() }
        }
    }
    func finishAnimations() { for screen in all { screen.finishAnimations() } }
}
extension Screen: SampleScene {
    func goes(_ phase: ScenePhase) {
        self.phase = phase
        update()
    }
    var screens: [Screen] {
        update()
        return [self]
    }
    var all: [Screen] { [self] }
}
extension UIWindowScene: SampleScene {
    var all: [Screen] { windows.compactMap(\.screen) }

    func goes(_ phase: ScenePhase) {
        switch phase {
        case .active: played(UIScene.ActivationState.foregroundActive)
        case .inactive: played(UIScene.ActivationState.foregroundInactive)
        case .background: played(UIScene.ActivationState.background)
        @unknown default: break
        }
    }
}

extension RunningApp {
    /// What the app keeps for all its scenes.
    var appModel: AppModel? { (Mirror(reflecting: app).descendant("_appModel") as? State<AppModel>)?.wrappedValue }

    /// The models behind its lock, as soon as there are any.
    func models() async throws -> ReadyModels {
        let appModel = try #require(appModel)
        await appModel.opened()
        guard case .ready(let models) = appModel.phase else { throw Device.Failure.notReady }
        return models
    }
}
