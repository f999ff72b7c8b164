import Holdfast

// What stands around the documents' examples in an app; compiled with them by SnippetTests.

@MainActor final class Cover {
    var isHidden = false
}

@MainActor final class LockScreen {
    var isPresented = false
}

final class PromptView: Sendable {
    func show(_ guidance: OwnerGuidance) {}
    func show(_ words: String) {}
}
