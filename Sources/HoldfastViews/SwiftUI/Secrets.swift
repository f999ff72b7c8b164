#if canImport(SwiftUI)
internal import SecretMemory

/// A secret on its way into a task, which takes it once: a closure cannot give away what it captured.
@MainActor
final class SecretCarrier {
    private var secret: SecretBytes?

    init(_ secret: consuming SecretBytes) { self.secret = consume secret }

    /// A field's text, copied into locked memory; nil where there is none left. The field empties itself.
    convenience init?(typed text: String) {
        guard let secret = try? SecretBytes(utf8: text) else { return nil }
        self.init(secret)
    }

    /// The secret; an empty one for the second caller.
    func take() -> SecretBytes {
        switch secret.take() {
        case .some(let secret): return secret
        case .none: return try! SecretBytes(zeroed: 0)  // because: no memory is asked for
        }
    }
}

/// As ``SecretCarrier``, of a secret that may not have been asked for.
@MainActor
final class OptionalCarrier {
    private var secret: SecretBytes?

    init(_ secret: consuming SecretBytes?) { self.secret = consume secret }

    func take() -> SecretBytes? { secret.take() }
}
#endif
