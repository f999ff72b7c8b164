#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI

/// The root of a scene: the app behind its lock, or what there is to show in its place. Listens to the device as long as it is
/// there.
public struct FaceView<Content: View>: View {
    private let face: FaceModel
    private let content: @MainActor (AppModels) -> Content

    /// - Parameters:
    ///   - face: What there is to show.
    ///   - content: The app, over the models of its open vault.
    public init(_ face: FaceModel, @ViewBuilder content: @escaping @MainActor (AppModels) -> Content) {
        self.face = face
        self.content = content
    }

    /// What is shown.
    public var body: some View {
        switch face.phase {
        // A moment: what comes after it covers itself.
        case .opening: ProgressView()
        // Another vault is another app: nothing of the one before is kept, nor what listens to the device for it.
        case .ready(let models): ReadyView(models: models, content: content).id(ObjectIdentifier(models))
        case .setup(let setup): SetupView(setup) { Task { await face.finishSetup() } }
        case .stopped(let stop): StopView(stop)
        case .destroyed: DestroyedView(face: face)
        case .failed(let problem): FailedView(face: face, problem: problem)
        }
    }
}

private struct ReadyView<Content: View>: View {
    let models: AppModels
    let content: @MainActor (AppModels) -> Content
    @State private var signals: DeviceSignals?

    var body: some View {
        content(models)
            .appLock(models)
            .onAppear { signals = DeviceSignals(models.lock) }
    }
}

private struct FailedView: View {
    let face: FaceModel
    let problem: VaultProblem

    var body: some View {
        VStack(spacing: 20) {
            Text("stop.failed", bundle: .texts).font(.title2).accessibilityAddTraits(.isHeader)
            Text(problem).multilineTextAlignment(.center)
            Button {
                face.load()
            } label: {
                Text("stop.tryAgain", bundle: .texts)
            }
            .buttonStyle(.borderedProminent)
        }
        .padding()
    }
}
#endif
