#if canImport(SwiftUI)
import HoldfastUI
import HoldfastViews
import SwiftUI

/// A lock screen of the app's own, over the models alone: of Holdfast's views it takes what they say.
@main
struct OwnLockScreenApp: App {
    @State private var appModel = AppModel(
        at: NSHomeDirectory() + "/Library/Application Support/holdfast", interface: "ios")

    var body: some Scene {
        WindowGroup {
            if let models = appModel.models {
                Guarded(models: models)
            } else if let stop = appModel.stop {
                Stopped(stop: stop)
            } else if appModel.isOpening {
                ProgressView()
            } else {
                Text("There is nothing to open.")
            }
        }
    }
}

/// Content, a cover while the app is not in front, or the lock screen. The lock is told of the scene's phases.
struct Guarded: View {
    let models: ReadyModels
    @Environment(\.scenePhase) private var phase
    /// Stands for this scene: each window reports its own phase.
    @State private var scene = NSObject()

    var body: some View {
        VStack {
            switch models.cover.shown(in: now) {
            case .nothing: Text("Welcome back")
            case .cover: Text("See you soon")
            case .lockScreen: MyLockScreen(lock: models.lock)
            }
        }
        .onChange(of: phase, initial: true) { models.scenes.report(now, of: scene) }
        .onChange(of: models.lock.isLocked, initial: true) { if !models.lock.isLocked { Task { await models.load() } } }
    }
    private var now: ScenePresence.Phase { phase == .active ? .active : phase == .background ? .background : .inactive }
}

struct MyLockScreen: View {
    let lock: LockModel
    var body: some View {
        if let stop = lock.stop { Stopped(stop: stop) }
        Button("Let me in") { Task { await lock.owner.unlock() } }.disabled(lock.owner.isUnlocking)
        if let problem = lock.owner.problemText { problem }
        if let left = lock.remainingAttempts { Text("\(left) attempts left") }
    }
}

struct Stopped: View {
    let stop: StopModel
    var body: some View {
        ForEach(stop.remedies, id: \.self) { way in Button("\(way)") { Task { await stop.perform(way) } } }
    }
}
#endif
