#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI

/// The root of a scene: the app behind its lock, or what there is to show in its place. Listens to the device as long
/// as it is there.
public struct AppView<Content: View>: View {
    private let appModel: AppModel
    private let content: @MainActor (ReadyModels) -> Content

    /// - Parameters:
    ///   - appModel: What there is to show.
    ///   - content: The app, over the models of its open vault.
    public init(_ appModel: AppModel, @ViewBuilder content: @escaping @MainActor (ReadyModels) -> Content) {
        self.appModel = appModel
        self.content = content
    }

    /// What is shown.
    public var body: some View {
        switch appModel.phase {
        // A moment: what comes after it covers itself.
        case .opening: ProgressView()
        // Another vault is another app: nothing of the one before is kept, nor what listens to the device for it.
        case .ready(let models): ReadyView(models: models, content: content).id(ObjectIdentifier(models))
        case .setup(let setup): SetupView(setup) { Task { await appModel.finishSetup() } }
        case .stopped(let stop): StopView(stop)
        case .destroyed: DestroyedView(appModel: appModel)
        case .failed(let problem): FailedView(appModel: appModel, problem: problem)
        }
    }
}

private struct ReadyView<Content: View>: View {
    let models: ReadyModels
    let content: @MainActor (ReadyModels) -> Content
    @State private var signals: DeviceSignals?

    var body: some View {
        content(models)
            .appLock(models)
            .onAppear { signals = DeviceSignals(models.lock) }
    }
}

private struct FailedView: View {
    let appModel: AppModel
    let problem: VaultProblem

    var body: some View {
        VStack(spacing: 20) {
            Text("stop.failed", bundle: .texts).font(.title2).accessibilityAddTraits(.isHeader)
            Text(problem).multilineTextAlignment(.center)
            Button(text: "stop.tryAgain") { appModel.load() }
                .buttonStyle(.borderedProminent)
        }
        .padding()
    }
}
#endif
