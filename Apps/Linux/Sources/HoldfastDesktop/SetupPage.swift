import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The first run, step by step.
final class SetupPage {
    let root: Widget
    private let model: SetupModel
    private let window: Window
    private let onFinish: () -> Void
    private let steps: [(SetupModel.Step, Widget)]
    private let working: Widget, spinner: Widget
    private let first: Editable, repeated: Editable, meter: StrengthMeter, problem: Label
    private let words: FlowBox
    private let answers: [Editable], checkProblem: Label
    private let again: Editable, resumed: Button, resumeAdvice: Label, resumeProblem: Label, welcomeProblem: Label
    private var lastActivity = ContinuousClock.now
    private var waiting: Task<Void, Never>?
    private let begin: Button, written: Button, finish: Button, lock: Toggle
    /// The pages of parts that the machine may have: what goes wrong, and the two ways on.
    private let parts: [(step: SetupModel.Step, problem: Label, use: Button, skip: Button)]
    private let talk: OwnerTalk

    /// - Parameters:
    ///   - onFinish: Called when there is a vault.
    ///   - onLeave: Called when the user does something else, before anything was made; nil where there is nothing
    ///     else to do.
    init(
        _ model: SetupModel, _ window: Window, onFinish: @escaping () -> Void, onLeave: (() -> Void)? = nil
    ) {
        (self.model, self.window, self.onFinish) = (model, window, onFinish)
        let ui = Builder(PackageResources.setup_ui)
        root = ui.widget("setup")
        steps = [
            (.welcome, ui.widget("setup-welcome")), (.passcode, ui.widget("setup-passcode")),
            (.phrase, ui.widget("setup-phrase")), (.check, ui.widget("setup-check")),
            (.protection, ui.widget("setup-protection")), (.chip, ui.widget("setup-chip")),
            (.fingerprint, ui.widget("setup-fingerprint")), (.resume, ui.widget("setup-resume")),
        ]
        parts = [(SetupModel.Step.chip, "setup-chip"), (.fingerprint, "setup-fingerprint")].map { step, name in
            (step, ui.widget("\(name)-problem"), ui.widget("\(name)-use"), ui.widget("\(name)-skip"))
        }
        talk = OwnerTalk(
            model.dialog, said: ui.widget("setup-fingerprint-said"), answer: ui.widget("setup-fingerprint-answer"),
            confirm: ui.widget("setup-fingerprint-confirm"))
        working = ui.widget("setup-working")
        spinner = ui.widget("setup-spinner")
        first = ui.widget("setup-first")
        repeated = ui.widget("setup-repeat")
        meter = StrengthMeter(ui.widget("setup-level"), ui.widget("setup-strength"), ui.widget("setup-weak"))
        problem = ui.widget("setup-problem")
        words = ui.widget("setup-words")
        answers = [ui.widget("setup-word-1"), ui.widget("setup-word-2"), ui.widget("setup-word-3")]
        checkProblem = ui.widget("setup-check-problem")
        again = ui.widget("setup-resume-passcode")
        resumed = ui.widget("setup-resume-go-on")
        resumeAdvice = ui.widget("setup-resume-advice")
        resumeProblem = ui.widget("setup-resume-problem")
        welcomeProblem = ui.widget("setup-welcome-problem")
        begin = ui.widget("setup-begin")
        written = ui.widget("setup-written")
        finish = ui.widget("setup-finish")
        lock = ui.widget("setup-lock")
        connect(ui)
        let back: Button = ui.widget("setup-back")
        back.isVisible = onLeave != nil
        back.onClick { onLeave?() }
        bind(self, { model.step }) { [unowned self] in show($0) }
        bind(self, { model.problem }) { [unowned self] in
            for label in [problem, resumeProblem, welcomeProblem] + parts.map(\.problem) {
                label.text = $0.map(ProblemText.of) ?? ""
                label.isVisible = $0 != nil
            }
        }
        bind(self, { Busy(isBusy: model.isBusy, isAsking: model.dialog.step != nil) }) { [unowned self] in show($0) }
        bind(self, { model.strength }) { [unowned self] in meter.show($0) }
        let unasked: Widget = ui.widget("setup-unasked")
        bind(self, { model.canBeginWithoutPasscode }) { unasked.isVisible = $0 }
        Task { await model.look() }
        window.onActivity { [weak self] in self?.lastActivity = .now }
        watch()
    }

    /// Nothing of the phrase or the passcode stays on the screen.
    func end() {
        waiting?.cancel()
        clear()
    }

    /// The owner went away.
    func suspend(_ event: LockEvent) async {
        clear()
        await model.suspend(event)
    }

    private func clear() {
        words.removeAll()
        for entry in answers + [first, repeated, again] { entry.clear() }
    }

    /// Who left the assistant standing is away, too.
    private func watch() {
        waiting = Task { [weak self] in
            while let last = self?.lastActivity, !Task.isCancelled {
                let due = last + SetupPage.patience
                if due <= .now {
                    await self?.suspend(.idleTimeout)
                    self?.lastActivity = .now
                } else {
                    try? await Task.sleep(until: due)
                }
            }
        }
    }

    /// Longer than for an open vault: words are being written on paper meanwhile.
    private static let patience = Duration.seconds(900)

    private func connect(_ ui: Builder) {
        begin.onClick { [model] in model.begin() }
        ui.widget("setup-begin-unasked", as: Button.self).onClick { [model] in
            Task { await model.beginWithoutPasscode() }
        }
        first.onChange { [unowned self] in first.withBytes { model.estimate($0) } }
        first.onEntryActivate { [unowned self] in repeated.focus() }
        repeated.onEntryActivate { [unowned self] in choose() }
        ui.widget("setup-choose", as: Button.self).onClick { [unowned self] in choose() }
        written.onClick { [model] in model.phraseIsWritten() }
        ui.widget("setup-checked", as: Button.self).onClick { [unowned self] in check() }
        answers[2].onEntryActivate { [unowned self] in check() }
        ui.widget("setup-again", as: Button.self).onClick { [model] in model.showPhraseAgain() }
        lock.onChange { [model] in model.enablesLock = $0 }
        finish.onClick { [model] in Task { await model.finish() } }
        again.onEntryActivate { [unowned self] in advance() }
        resumed.onClick { [unowned self] in advance() }
        for (step, _, use, skip) in parts {
            use.onClick { [model] in
                Task { if step == .chip { await model.enrollChip() } else { await model.enrollFingerprint() } }
            }
            skip.onClick { [model] in model.leaveOut() }
        }
    }

    private struct Busy: Equatable { let isBusy: Bool, isAsking: Bool }

    private func show(_ busy: Busy) {
        for (_, _, use, skip) in parts {
            use.isSensitive = !busy.isBusy
            skip.isSensitive = !busy.isBusy || busy.isAsking
        }
        resumed.isSensitive = !busy.isBusy
        let isWaiting = busy.isBusy && !busy.isAsking
        working.isVisible = isWaiting || SetupPage.isWorking(model.step)
        spinner.set("spinning", working.isVisible)
    }

    private static func isWorking(_ step: SetupModel.Step) -> Bool {
        step == .creating || step == .opening || step == .finished
    }

    private func choose() {
        guard !first.isEmpty else { return first.focus() }
        let takesWeak = meter.takesWeak
        guard let passcode = try? first.takeSecret(), let again = try? repeated.takeSecret() else { return }
        window.dropFocus()
        let (secret, second) = (SecretCarrier(passcode), SecretCarrier(again))
        Task { [model] in await model.choose(passcode: secret.take(), repeated: second.take(), takingWeak: takesWeak) }
    }

    private func advance() {
        guard !again.isEmpty, !model.isBusy else { return again.focus() }
        guard let passcode = try? again.takeSecret() else { return }
        let secret = SecretCarrier(passcode)
        Task { [model] in await model.resume(passcode: secret.take()) }
    }

    private func check() {
        for (entry, position) in zip(answers, model.positions) {
            _ = entry.withBytes { model.answer($0, at: position) }
        }
        guard model.finishCheck() else {
            checkProblem.text = tr("These words do not match the sheet. Check again.")
            checkProblem.isVisible = true
            return
        }
        answers.forEach { $0.clear() }
    }

    private func show(_ step: SetupModel.Step) {
        for (name, widget) in steps { widget.isVisible = name == step }
        let isWorking = SetupPage.isWorking(step)
        working.isVisible = isWorking
        spinner.set("spinning", isWorking)
        if step != .phrase { words.removeAll() }
        switch step {
        case .welcome: begin.focus()
        case .passcode: first.focus()
        case .phrase:
            showWords()
            written.focus()
        case .check:
            checkProblem.isVisible = false
            for (entry, position) in zip(answers, model.positions) {
                entry.title = tr("Word %s", String(position))
                entry.clear()
            }
            answers[0].focus()
        case .protection: finish.focus()
        case .resume:
            resumeAdvice.text =
                model.isPhraseChecked
                ? tr("You were away. Enter your passcode to continue setting up.")
                : tr(
                    "You were away. Enter your passcode to continue setting up. You will get new words: cross out those that you have already written down."
                )
            again.focus()
        case .chip, .fingerprint: parts.first { $0.step == step }?.use.focus()
        case .creating, .opening: break
        case .finished: onFinish()
        }
    }

    /// One label a word. GTK lays each out in memory of its own; they go when the step does.
    private func showWords() {
        _ = model.withPhrase { [words] text in
            PhraseWords.each(of: text) { word, number in
                let label = Label("")
                label.show(word, behind: "\(number). ")
                label.setClass("word", true)
                gtk_label_set_xalign(label.opaque, 0)
                words.append(label)
            }
        }
    }
}
