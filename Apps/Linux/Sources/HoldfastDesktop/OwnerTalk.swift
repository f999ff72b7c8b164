import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// Shows what the system says while it looks for its owner, and takes the answer that it may want.
final class OwnerTalk {
    private let dialog: OwnerDialog
    private let said: Label, answer: Editable, confirm: Button
    /// Called when a question comes or goes.
    var onQuestion: (Bool) -> Void = { _ in }

    private struct Facts: Equatable {
        let step: OwnerStep?, guidance: OwnerGuidance?, finger: OwnerFinger?, question: OwnerPrompt?
        let message: OwnerPrompt?, misses: Int
        init(_ dialog: OwnerDialog) {
            misses = dialog.misses
            (step, guidance, finger) = (dialog.step, dialog.guidance, dialog.finger)
            (question, message) = (dialog.question, dialog.message)
        }
    }

    /// - Parameters:
    ///   - answer: Where the account's password is typed.
    ///   - confirm: Gives it.
    init(_ dialog: OwnerDialog, said: Label, answer: Editable, confirm: Button) {
        (self.dialog, self.said, self.answer, self.confirm) = (dialog, said, answer, confirm)
        confirm.onClick { [unowned self] in give() }
        answer.onActivate { [unowned self] in give() }
        bind(self, { Facts(dialog) }) { [unowned self] in show($0) }
    }

    private func show(_ facts: Facts) {
        let text = facts.step.map { step in
            let said =
                facts.question.map(OwnerText.of)
                ?? OwnerText.of(step, facts.guidance, facts.finger, misses: facts.misses)
            return facts.message.map { OwnerText.of($0) + "\n" + said } ?? said
        }
        said.text = text ?? ""
        said.isVisible = text != nil
        let isAsked = facts.question != nil
        if !isAsked { answer.clear() }
        let changes = answer.isVisible != isAsked
        answer.isVisible = isAsked
        confirm.isVisible = isAsked
        if changes { onQuestion(isAsked) }
        if isAsked { answer.focus() }
    }

    private func give() {
        guard dialog.question != nil, let secret = try? answer.takeSecret() else { return }
        dialog.answer(secret)
    }
}
