#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI
internal import VaultStorage

/// Why a vault does not open on this device, and a button for each thing that its user can do about that.
public struct StopView: View {
    private let model: StopModel
    @State private var asksToStartOver = false
    /// Whether the scene was not in front meanwhile.
    @State private var hasLeft = false

    /// The screen of what stands in the way.
    public init(_ model: StopModel) { self.model = model }

    /// What is shown.
    public var body: some View {
        VStack(spacing: 20) {
            Text(StopText.title(model.reason), bundle: .texts).font(.title2).accessibilityAddTraits(.isHeader)
            Text(StopText.advice(model.reason, until: model.until), bundle: .texts).multilineTextAlignment(.center)
            if let problem = model.problem {
                Text(problem).foregroundStyle(.red)
            }
            ForEach(model.remedies, id: \.self) { remedy in
                Button {
                    if remedy == .startOver { asksToStartOver = true } else { perform(remedy) }
                } label: {
                    Text(StopText.key(remedy), bundle: .texts)
                }
                .buttonStyle(.bordered)
                .disabled(model.running != nil)
            }
            if model.running != nil { ProgressView() }
        }
        .padding()
        .onScenePhase { phase in
            // The device was unlocked meanwhile.
            if phase == .active, hasLeft, model.reason == .notNow { perform(.tryAgain) }
            hasLeft = phase != .active
        }
        .confirmationDialog(
            Text("stop.startOver.confirm", bundle: .texts), isPresented: $asksToStartOver, titleVisibility: .visible
        ) {
            Button(text: "stop.startOver", role: .destructive) { perform(.startOver) }
            Button(text: "settings.cancel", role: .cancel) {}
        } message: {
            Text("stop.startOver.advice", bundle: .texts)
        }
    }

    private func perform(_ remedy: StopModel.Remedy) { Task { await model.perform(remedy) } }
}

/// Keys of the words for what stands in the way.
enum StopText {
    static func title(_ reason: StopModel.Reason) -> LocalizedStringKey {
        switch reason {
        case .missing: "stop.missing"
        case .notNow: "stop.notNow"
        case .lost: "stop.lost"
        case .another: "stop.another"
        case .contradicted: "stop.contradicted"
        }
    }

    static func advice(_ reason: StopModel.Reason, until: ShareWait?) -> LocalizedStringKey {
        switch reason {
        case .missing: "stop.missing.advice"
        case .notNow: advice(until)
        case .lost: "stop.lost.advice"
        case .another: "stop.another.advice"
        case .contradicted: "stop.contradicted.advice"
        }
    }

    private static func advice(_ until: ShareWait?) -> LocalizedStringKey {
        switch until {
        case .unlocked, nil: "stop.notNow.advice"
        case .free: "stop.notNow.busy"
        case .otherKeyring, .present, .room, .permitted: "stop.notNow.absent"
        case .devicePasscode: "stop.notNow.passcode"
        }
    }

    static func key(_ remedy: StopModel.Remedy) -> LocalizedStringKey {
        switch remedy {
        case .tryAgain: "stop.tryAgain"
        case .accept: "stop.accept"
        case .requireOwner: "stop.requireOwner"
        case .stopAsking: "stop.stopAsking"
        case .startOver: "stop.startOver"
        }
    }
}
#endif
