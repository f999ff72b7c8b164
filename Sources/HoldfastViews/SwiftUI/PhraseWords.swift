#if canImport(SwiftUI)
internal import SwiftUI

/// The 24 words of a recovery phrase with what to do with them: paper first, the pasteboard as an explicit choice.
///
/// Text on a screen is a `String`, which nothing can wipe: it is made when the view is drawn and kept nowhere of ours.
struct PhraseWords: View {
    /// Whose phrase it is: the two are independent, and each sheet says which one it is.
    enum Owner {
        case vault, identity

        var title: LocalizedStringKey { self == .vault ? "phrase.vault" : "phrase.identity" }
        var advice: LocalizedStringKey { self == .vault ? "phrase.vault.advice" : "phrase.identity.advice" }
        /// On paper and in the print job's name.
        var heading: String { self == .vault ? "Holdfast vault recovery phrase" : "Holdfast identity recovery phrase" }
    }

    let owner: Owner
    let seconds: UInt32
    /// Lends the words; nil when they are not to be seen any more.
    let words: @MainActor () -> [String]?
    @State private var isCopied = false
    @State private var printer = Surroundings()
    /// Whether printing did not begin.
    @State private var cannotPrint = false

    var body: some View {
        VStack(alignment: .leading, spacing: 12) {
            Text(owner.title, bundle: .texts).font(.headline).accessibilityAddTraits(.isHeader)
            Text(owner.advice, bundle: .texts).font(.callout)
            LazyVGrid(columns: [GridItem(.adaptive(minimum: 120))], alignment: .leading, spacing: 8) {
                ForEach(PhraseWords.numbered(words() ?? [])) { word in
                    Text(verbatim: "\(word.id). \(word.text)").font(.body.monospaced())
                }
            }
            .onlyInFront()
            if Paper.isAvailable {
                Button(text: "phrase.print") {
                    guard let words = words() else { return }
                    cannotPrint = !Paper.print(owner.heading, page(words), from: printer)
                }
                .buttonStyle(.borderedProminent)
                .located(printer)
                if cannotPrint { Text("phrase.print.failed", bundle: .texts).foregroundStyle(.red) }
            }
            Button {
                guard let words = words() else { return }
                Clipboard.copy(words.joined(separator: " "), seconds: seconds)
                isCopied = true
            } label: {
                Text("phrase.copy \(Int(seconds))", bundle: .texts)
            }
            .buttonStyle(.bordered)
            if isCopied { Text("copy.done", bundle: .texts).font(.caption) }
        }
    }

    private func page(_ words: [String]) -> String {
        let lines = PhraseWords.numbered(words).map { "\($0.id < 10 ? " " : "")\($0.id). \($0.text)" }
        return ([owner.heading, ""] + lines).joined(separator: "\n")
    }

    struct Word: Identifiable {
        let id: Int
        let text: String
    }

    private static func numbered(_ words: [String]) -> [Word] {
        zip(1..., words).map { Word(id: $0, text: $1) }
    }

    /// The words of a text that was lent.
    static func words(of text: RawSpan) -> [String] {
        let bytes = unsafe text.withUnsafeBytes { unsafe Array($0) }
        return bytes.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    }
}
#endif
