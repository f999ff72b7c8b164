#if canImport(SwiftUI)
internal import CoreImage
internal import HoldfastUI
internal import SecretMemory
internal import SwiftUI

/// One sheet: its fields, the new phrase where one belongs to it, and the button that does it.
struct IdentitySheetView: View {
    private let sheet: IdentitySheet
    private let models: ReadyModels
    @State private var server: String
    @State private var name: String
    @State private var phrase = ""
    @State private var passcode = ""
    @State private var path = "/"
    @State private var json = "{}"
    /// Whether the camera looks for the other device's code.
    @State private var scans = false
    @Environment(\.dismiss) private var dismiss

    init(_ sheet: IdentitySheet, _ models: ReadyModels) {
        self.sheet = sheet
        self.models = models
        _server = State(initialValue: models.identity.facts.server ?? "https://")
        _name = State(initialValue: sheet == .join ? models.identity.facts.identity ?? "" : "")
    }

    private var model: IdentityModel { models.identity }

    var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 16) {
                Text(sheet.title, bundle: .texts).font(.title2).accessibilityAddTraits(.isHeader)
                Text(sheet.advice, bundle: .texts)
                fields
                if sheet.needsPhrase, model.prepared == sheet.action {
                    PhraseWords(owner: .identity, seconds: models.preferences.values.clipboardSeconds) {
                        model.withPhrase { PhraseWords.words(of: $0) }
                    }
                }
                if sheet.needsProof, !model.confirmsOwner { proof }
                if sheet == .request, let answer = model.answer {
                    CopyRow(title: "identity.answer", text: answer)
                }
                if sheet == .join, let container = model.container {
                    QRCode(text: container)
                    CopyRow(title: "identity.container", text: container)
                }
                if let problem = model.outcome?.problem {
                    Text(IdentityText.key(problem), bundle: .texts).foregroundStyle(.red)
                }
                HStack {
                    Button(text: "settings.cancel", role: .cancel) { dismiss() }
                    Spacer()
                    if model.running != nil { ProgressView() }
                    Button(text: "settings.continue", role: sheet.isDestructive ? .destructive : nil) { perform() }
                        .buttonStyle(.borderedProminent)
                        .disabled(!isComplete)
                }
            }
            .padding()
        }
        .presentationDetents(sheet.needsPhrase ? [.large] : [.medium, .large])
        .presentationDragIndicator(.visible)
        // A swipe must not throw away a phrase that the server may have by now.
        .interactiveDismissDisabled(model.running != nil)
        .onAppear { if sheet.needsPhrase { model.prepare(sheet.action) } }
        .onDisappear { end() }
        .onChange(of: model.outcome) { _, outcome in
            // The container and the answer stay to be seen; everything else is over when it was done.
            if let outcome, outcome.action == sheet.action, outcome.problem == nil, !sheet.stays { dismiss() }
        }
        .onChange(of: models.lock.isLocked) { _, isLocked in if isLocked { dismiss() } }
    }

    @ViewBuilder private var fields: some View {
        switch sheet {
        case .create: field("identity.server", $server)
        case .recover:
            field("identity.identity", $name)
            field("identity.server", $server)
            field("identity.oldPhrase", $phrase).onlyInFront()
        case .join:
            field("identity.identity", $name)
            field("identity.server", $server)
        case .link:
            scanner
            field("identity.container", $name)
        case .unlink: field("identity.device", $name)
        case .changeRecovery, .erase, .delete: EmptyView()
        case .drill: words
        case .request:
            field("identity.server", $server)
            field("identity.path", $path)
            field("identity.json", $json)
        }
    }

    /// The other device shows a code; the camera reads it into the field.
    @ViewBuilder private var scanner: some View {
        #if canImport(VisionKit) && canImport(UIKit)
        if scans {
            CodeScanner { text in (name, scans) = (text, false) }.frame(maxWidth: .infinity, minHeight: 240)
        }
        if CodeScanner.isAvailable {
            Button {
                scans.toggle()
            } label: {
                Text(scans ? "identity.scan.stop" : "identity.scan", bundle: .texts)
            }
        }
        #endif
    }

    /// Below the words, when they are on paper.
    @ViewBuilder private var proof: some View {
        Text("identity.proof", bundle: .texts)
        SecureField(text: $passcode, prompt: nil) { Text("lock.passcode", bundle: .texts) }
    }

    /// What stands on the sheet is not shown while it is typed.
    @ViewBuilder private var words: some View {
        if let positions = model.facts.drill?.positions, !positions.isEmpty {
            Text(verbatim: positions.map { String($0) }.joined(separator: ", ")).font(.title3.monospaced())
        }
        SecureField(text: $phrase, prompt: nil) { Text("identity.drill.words", bundle: .texts) }
    }

    @ViewBuilder private func field(_ title: LocalizedStringKey, _ text: Binding<String>) -> some View {
        let field = TextField(text: text, axis: .vertical) { Text(title, bundle: .texts) }
            .font(.body.monospaced())
            .autocorrectionDisabled()
            .privacySensitive()
        #if canImport(UIKit)
        field.textInputAutocapitalization(.never)
        #else
        field
        #endif
    }

    private var isComplete: Bool {
        guard model.running == nil, !sheet.needsProof || model.confirmsOwner || !passcode.isEmpty else { return false }
        return switch sheet {
        case .create: !server.isEmpty && model.prepared == .create
        case .recover: !server.isEmpty && !name.isEmpty && !phrase.isEmpty && model.prepared == .recover
        case .join: !server.isEmpty && !name.isEmpty
        case .link, .unlink: !name.isEmpty
        case .changeRecovery: model.prepared == .changeRecovery
        case .erase, .delete: true
        case .drill: !phrase.isEmpty
        case .request: !server.isEmpty && !path.isEmpty && !json.isEmpty
        }
    }

    private func perform() {
        let (server, name) = (server, name)
        // Nothing is typed where the device's owner is asked in its place.
        let typed = model.confirmsOwner ? nil : try? SecretBytes(utf8: passcode)
        passcode = ""
        guard typed != nil || model.confirmsOwner || !sheet.needsProof else { return }
        let given = OptionalCarrier(typed)
        switch sheet {
        case .create: Task { await model.create(at: server) }
        case .recover:
            guard let old = try? SecretBytes(utf8: phrase) else { return }
            phrase = ""
            let carried = SecretCarrier(old)
            Task { await model.recover(name, at: server, phrase: carried.take()) }
        case .join: Task { await model.makeContainer(for: name, at: server) }
        case .link: Task { await model.link(name, passcode: given.take()) }
        case .unlink: Task { await model.unlink(name, passcode: given.take()) }
        case .changeRecovery: Task { await model.changeRecovery(passcode: given.take()) }
        case .erase: Task { await model.erase(passcode: given.take()) }
        case .delete: Task { await model.delete(passcode: given.take()) }
        case .drill:
            guard let typed = try? SecretBytes(utf8: phrase) else { return }
            phrase = ""
            let carried = SecretCarrier(typed)
            Task { await model.drill(carried.take()) }
        case .request:
            let (path, json) = (path, json)
            Task { await model.request(path, json, at: server) }
        }
    }

    private func end() {
        phrase = ""
        passcode = ""
        scans = false
        model.giveUp()
        model.outcome = nil
    }
}

/// A QR code that another device's camera reads off the screen.
struct QRCode: View {
    let text: String

    var body: some View {
        if let image = QRCode.image(of: text) {
            Image(decorative: image, scale: 1)
                .interpolation(.none)
                .resizable()
                .aspectRatio(contentMode: .fit)
                .frame(maxWidth: 320)
                .padding()
                .background(Color.white)
                .accessibilityElement()
                .accessibilityLabel(Text("identity.code", bundle: .texts))
        } else {
            Text("identity.code.none", bundle: .texts)
        }
    }

    /// One point for each module; nil for what no QR code holds.
    private static func image(of text: String) -> CGImage? {
        guard let filter = CIFilter(name: "CIQRCodeGenerator") else { return nil }
        filter.setValue(Data(text.utf8), forKey: "inputMessage")
        filter.setValue("L", forKey: "inputCorrectionLevel")
        guard let image = filter.outputImage else { return nil }
        return CIContext().createCGImage(image, from: image.extent)
    }
}
#endif
