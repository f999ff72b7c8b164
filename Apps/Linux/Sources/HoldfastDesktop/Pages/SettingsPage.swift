import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// Every security setting; what matters is proved with the passcode.
final class SettingsPage {
    let root: Widget
    private unowned let parts: ReadyWindow
    private let model: SecuritySettingsModel
    private let selfDestruct: SelfDestructModel
    private let preferences: PreferencesModel
    private let lock: Toggle, destroys: Toggle, blur: Toggle, minimised: Toggle, lid: Toggle, chip: Toggle, chipRow: Row
    private let pinRow: Row, pinSet: Button, pinRemove: Button
    private let folder: Widget
    private let owners: [(step: OwnerStep, toggle: Toggle, row: Row)]
    private let timing: ComboRow, focusLoss: ComboRow, idle: ComboRow, limit: ComboRow, clipboard: ComboRow
    private let countdownRow: Row, countdownBar: ProgressBar, destroysRow: Row, passcodeRow: Row
    private let receiptRow: Row, countdownCancel: Button
    private let protection: ProtectionGroup
    private let programs: ProgramsGroup
    /// What belongs to a passcode, which not every vault has.
    private let methods: Widget, mistakes: Widget, lockRow: Row
    private let minimisedRow: Row, lidRow: Row

    private static let limits = Array(SecuritySettingsModel.attemptLimits)

    init(_ parts: ReadyWindow) {
        self.parts = parts
        (model, selfDestruct) = (parts.models.settings, parts.models.selfDestruct)
        preferences = parts.models.preferences
        let ui = Builder(PackageResources.settings_ui)
        root = ui.widget("settings")
        lock = ui.widget("app-lock")
        chip = ui.widget("chip")
        chipRow = ui.widget("chip-row")
        pinRow = ui.widget("pin-row")
        pinSet = ui.widget("pin-set")
        pinRemove = ui.widget("pin-remove")
        folder = ui.widget("folder")
        owners = [
            (.biometrics, ui.widget("biometrics"), ui.widget("biometrics-row")),
            (.devicePasscode, ui.widget("account"), ui.widget("account-row")),
        ]
        destroys = ui.widget("self-destruct")
        blur = ui.widget("blur")
        minimised = ui.widget("minimised")
        lid = ui.widget("lid")
        timing = ui.widget("timing")
        focusLoss = ui.widget("focus-loss")
        idle = ui.widget("idle")
        limit = ui.widget("limit")
        clipboard = ui.widget("clipboard")
        countdownRow = ui.widget("countdown-row")
        countdownBar = ui.widget("countdown-bar")
        countdownCancel = ui.widget("countdown-cancel")
        destroysRow = ui.widget("self-destruct-row")
        passcodeRow = ui.widget("passcode-row")
        receiptRow = ui.widget("receipt-row")
        methods = ui.widget("methods")
        mistakes = ui.widget("mistakes")
        lockRow = ui.widget("app-lock-row")
        minimisedRow = ui.widget("minimised-row")
        lidRow = ui.widget("lid-row")
        protection = ProtectionGroup(ui, parts)
        programs = ProgramsGroup(root, parts)
        fillChoices()
        leadToPages(ui)
        connect(ui)
        bindSecurity()
        bindPreferences()
    }

    /// The lock fell.
    func drop() {
        showSwitches()
        programs.drop()
    }

    /// Finds out what the machine has, and what programs may do.
    func look() {
        Task { [model] in await model.look() }
        programs.load()
    }

    private func fillChoices() {
        timing.setChoices(LockTiming.presets.map(SettingsText.of))
        focusLoss.setChoices(Preferences.FocusLoss.allCases.map(SettingsText.of))
        idle.setChoices(Preferences.idlePresets.map(SettingsText.idle))
        limit.setChoices(SettingsPage.limits.map { String($0) })
        clipboard.setChoices(Preferences.clipboardPresets.map(SettingsText.seconds))
    }

    private func leadToPages(_ ui: Builder) {
        let pages: [(String, ReadyWindow.Page)] = [
            ("go-log", .log), ("go-doctor", .doctor), ("go-health", .health), ("go-identity", .identity),
        ]
        for (id, page) in pages {
            ui.widget(id, as: Row.self).onActivate { [unowned self] in parts.go(page) }
        }
        let (identity, row) = (parts.models.identity, ui.widget("go-identity", as: Row.self))
        bind(self, { identity.facts.state }) { row.subtitle = SettingsText.of($0) }
    }

    private func connect(_ ui: Builder) {
        lock.onChange { [unowned self] on in if on != model.showsLockOn { request(.lock(on)) } }
        for (step, toggle, _) in owners {
            toggle.onChange { [unowned self] on in
                if on != model.showsOn(step) { request(.owner(step, on)) }
            }
        }
        chip.onChange { [unowned self] on in if on != model.showsChipOn { request(.chip(on)) } }
        timing.onChange { [unowned self] index in
            guard let wanted = LockTiming.presets[safe: index], wanted != model.shownTiming else { return }
            model.request(.timing(wanted))
        }
        limit.onChange { [unowned self] index in
            guard let wanted = SettingsPage.limits[safe: index], wanted != model.shownAttemptLimit else { return }
            model.request(.attemptLimit(wanted))
        }
        destroys.onChange { [unowned self] on in
            if on != selfDestruct.showsOn { selfDestruct.request(on ? .enable : .disable) }
        }
        countdownCancel.onClick { [selfDestruct] in
            Task { await selfDestruct.cancel() }
        }
        ui.widget("passcode-change", as: Button.self).onClick { [unowned self] in changePasscode() }
        pinSet.onClick { [unowned self] in setPIN() }
        pinRemove.onClick { [unowned self] in request(.pinRemoval) }
        ui.widget("folder-claim", as: Button.self).onClick { [unowned self] in request(.hardware(.claim)) }
        ui.widget("folder-leave", as: Button.self).onClick { [unowned self] in request(.hardware(.leave)) }
        ui.widget("receipt-copy", as: Button.self).onClick { [unowned self] in
            guard let key = selfDestruct.receiptKey else { return }
            parts.clipboard.copy(key)
            parts.toast(tr("Copied"))
        }
        minimised.onChange { [unowned self] on in change { $0.locksWhenMinimised = on } }
        lid.onChange { [unowned self] on in change { $0.locksWhenLidCloses = on } }
        blur.onChange { [unowned self] on in change { $0.blursCover = on } }
        focusLoss.onChange { [unowned self] index in
            guard let wanted = Preferences.FocusLoss.allCases[safe: index] else { return }
            change { $0.focusLoss = wanted }
        }
        idle.onChange { [unowned self] index in
            guard let wanted = Preferences.idlePresets[safe: index] else { return }
            change { $0.idleSeconds = wanted }
        }
        clipboard.onChange { [unowned self] index in
            guard let wanted = Preferences.clipboardPresets[safe: index] else { return }
            change { $0.clipboardSeconds = wanted }
        }
    }

    private func request(_ change: SecuritySettingsModel.Change) {
        model.request(change)
        // One change at a time: a switch that was moved meanwhile goes back.
        if model.wanted != change { showSwitches() }
    }

    /// What the switches show while the models say something else is put back by the binding of the models.
    private func showSwitches() {
        // Not from within the signal of the switch that is put back.
        Task { [weak self] in self?.putBack() }
    }

    private func putBack() {
        lock.isOn = model.showsLockOn
        for (step, toggle, _) in owners { toggle.isOn = model.showsOn(step) }
        chip.isOn = model.showsChipOn
        destroys.isOn = selfDestruct.showsOn
    }

    private struct Shown: Equatable {
        let lock: Bool, timing: LockTiming, limit: Int, wanted: SecuritySettingsModel.Change?
        let owners: [Bool], chip: Bool
        init(_ model: SecuritySettingsModel) {
            (lock, timing, limit) = (model.showsLockOn, model.shownTiming, model.shownAttemptLimit)
            (owners, chip, wanted) = (OwnerStep.allCases.map(model.showsOn), model.showsChipOn, model.wanted)
        }
    }

    /// What the machine has, and whether it is used.
    private struct Parts: Equatable {
        let owners: [OwnerObstacle?], canSwitch: [Bool], chip: OwnerObstacle?, canSwitchChip: Bool, isUnderChip: Bool
        let hasPIN: Bool
        init(_ model: SecuritySettingsModel) {
            (owners, canSwitch) = (
                OwnerStep.allCases.map(model.obstacle), OwnerStep.allCases.map(model.canSwitch)
            )
            (chip, canSwitchChip, isUnderChip) = (model.chipObstacle, model.canSwitchChip, model.isUnderChip)
            hasPIN = model.hasPIN
        }
    }

    /// Whether the app lock is on, and can be.
    private struct Lock: Equatable {
        let isOn: Bool, obstacle: OwnerObstacle?
        init(_ model: SecuritySettingsModel) {
            (isOn, obstacle) = (model.policy?.isLockEnabled ?? false, model.lockObstacle)
        }
    }

    /// What the app lock decides does nothing while it is off, and says so.
    private func show(_ shown: Lock) {
        lock.isSensitive = shown.obstacle == nil
        lockRow.subtitle = SettingsText.ofLock(isOn: shown.isOn, shown.obstacle)
        for row in [timing, idle, focusLoss] {
            row.isSensitive = shown.isOn
            row.subtitle = shown.isOn ? "" : SettingsText.withoutLock
        }
        let switches = [
            (minimised, minimisedRow, tr("Off only covers the window")),
            (lid, lidRow, tr("Off treats it as leaving the app")),
        ]
        for (toggle, row, subtitle) in switches {
            toggle.isSensitive = shown.isOn
            row.subtitle = shown.isOn ? subtitle : SettingsText.withoutLock
        }
    }

    private func bindSecurity() {
        let (model, selfDestruct) = (model, selfDestruct)
        bind(self, { Shown(model) }) { [unowned self] in
            lock.isOn = $0.lock
            for (step, toggle, _) in owners { toggle.isOn = model.showsOn(step) }
            chip.isOn = $0.chip
            if let index = LockTiming.presets.firstIndex(of: $0.timing) { timing.selected = index }
            if let index = SettingsPage.limits.firstIndex(of: $0.limit) { limit.selected = index }
        }
        bind(self, { model.needed }) { [unowned self] in prove($0) }
        bind(self, { model.failure }) { [unowned self] in
            if let failure = $0 { parts.toast(tr("Nothing was changed. %s", ProblemText.of(failure.problem))) }
        }
        bind(self, { Parts(model) }) { [unowned self] _ in
            for (step, toggle, row) in owners {
                toggle.isSensitive = model.canSwitch(step)
                row.subtitle =
                    model.obstacle(to: step).map { SettingsText.of($0, step) }
                    ?? tr("In addition to the passcode, never instead of it")
            }
            chip.isSensitive = model.canSwitchChip
            chipRow.subtitle = SettingsText.ofChip(model.chipObstacle, isOn: model.isUnderChip)
            pinSet.isSensitive = model.canSetPIN
            // The passcode's button has the same word on it.
            pinSet.setLabel(model.hasPIN ? tr("Change…") : tr("Set…"), spoken: tr("Set the PIN"))
            pinRemove.isVisible = model.hasPIN
            pinRow.subtitle = SettingsText.ofPIN(model.chipObstacle, isThere: model.hasPIN)
        }
        bind(self, { Lock(model) }) { [unowned self] in show($0) }
        bind(self, { model.leavesHardware }) { [unowned self] in folder.isVisible = $0 }
        bind(self, { model.passcodeAssurance }) { [unowned self] in
            passcodeRow.subtitle = $0.map(SettingsText.of) ?? ""
        }
        let protection = parts.models.protection
        bind(self, { protection.protection }) { [unowned self] _ in
            // Until it is known the page looks as most vaults have it.
            let hasPasscode = protection.level == nil || protection.hasPasscode
            methods.isVisible = hasPasscode
            mistakes.isVisible = protection.level != .device
            lockRow.title = hasPasscode ? tr("Ask for the passcode") : tr("Ask whether it is you")
        }
        bind(self, { selfDestruct.step }) { [unowned self] in show($0) }
        bind(self, { selfDestruct.showsOn }) { [unowned self] in
            destroys.isOn = $0
        }
        bind(self, { model.shownAttemptLimit }) { [unowned self] in
            destroysRow.subtitle = trn(
                "Off by default. %d wrong passcode in a row destroys the vault and everything in it.",
                "Off by default. %d wrong passcodes in a row destroy the vault and everything in it.", $0)
        }
        bind(self, { selfDestruct.outcome }) { [unowned self] in
            guard let outcome = $0 else { return }
            selfDestruct.outcome = nil
            parts.toast(SettingsText.of(outcome))
        }
        bind(self, { selfDestruct.receiptKey }) { [unowned self] in
            receiptRow.isVisible = $0 != nil
            receiptRow.subtitle = $0 ?? ""
        }
    }

    private func bindPreferences() {
        let preferences = preferences
        bind(self, { preferences.values }) { [unowned self] values in
            blur.isOn = values.blursCover
            minimised.isOn = values.locksWhenMinimised
            lid.isOn = values.locksWhenLidCloses
            if let index = Preferences.FocusLoss.allCases.firstIndex(of: values.focusLoss) {
                focusLoss.selected = index
            }
            if let index = Preferences.idlePresets.firstIndex(of: values.idleSeconds) { idle.selected = index }
            if let index = Preferences.clipboardPresets.firstIndex(of: values.clipboardSeconds) {
                clipboard.selected = index
            }
        }
        bind(self, { preferences.problem }) { [unowned self] in
            guard let problem = $0 else { return }
            preferences.problem = nil
            parts.toast(tr("Nothing was changed. %s", ProblemText.of(problem)))
        }
    }

    private func change(_ edit: @escaping (inout Preferences) -> Void) {
        guard !parts.models.lock.isLocked else { return }
        Task { [preferences] in await preferences.change(edit) }
    }

    private func prove(_ needed: SecuritySettingsModel.Proof?) {
        guard let needed, let wanted = model.wanted, !model.isBusy else { return parts.sheets.dismissOwner() }
        switch needed {
        case .owner(let step):
            parts.sheets.showOwner(model.dialog, SettingsText.title(of: wanted), SettingsText.proof(of: step)) {
                [model] in
                model.cancel()
            }
            Task { [model] in await model.proveOwner() }
        case .passcode, .passcodeAndPhrase: ask(for: wanted, wantsPhrase: needed == .passcodeAndPhrase)
        case .confirmation: confirm(wanted)
        }
    }

    /// A vault without a passcode: the system asks its owner. What the change takes away is said before.
    private func confirm(_ wanted: SecuritySettingsModel.Change) {
        let confirm = { [unowned self, model] in
            showOwner(model.dialog, SettingsText.title(of: wanted)) { model.cancel() }
            Task {
                await model.confirm()
                if model.failure == nil { parts.toast(tr("Changed")) }
            }
        }
        guard model.losesPhrase else { return confirm() }
        parts.sheets.askConfirmation(
            SettingsText.title(of: wanted),
            tr("The recovery phrase of this vault no longer works after this change. Issue a new one afterwards."),
            confirm: tr("Continue"), confirm
        ) { [model] in
            model.cancel()
        }
    }

    private func showOwner(_ dialog: OwnerDialog, _ title: String, onCancel: @escaping () -> Void) {
        parts.sheets.showOwner(dialog, title, tr("The system asks whether it is you."), onCancel: onCancel)
    }

    private func ask(for wanted: SecuritySettingsModel.Change, wantsPhrase: Bool) {
        parts.sheets.askPasscode(
            SettingsText.title(of: wanted), SettingsText.question(for: wanted, hasPIN: model.hasPIN),
            confirm: SettingsText.confirm(of: wanted),
            wantsPhrase: wantsPhrase
        ) { [model, parts] passcode, phrase in
            let (secret, words) = (SecretCarrier(passcode), phrase)
            Task {
                if let words {
                    await model.prove(passcode: secret.take(), phrase: words.take())
                } else {
                    await model.prove(passcode: secret.take())
                }
                await parts.models.lock.refresh()
                if model.failure == nil { parts.toast(tr("Changed")) }
            }
        } onCancel: { [model] in
            model.cancel()
        }
    }

    private func show(_ step: SelfDestructModel.Step) {
        countdownRow.isVisible = false
        switch step {
        case .idle:
            destroys.isOn = selfDestruct.showsOn
            if selfDestruct.confirmsOwner { parts.sheets.dismissOwner() }
        case .authenticating(let change) where selfDestruct.confirmsOwner:
            showOwner(selfDestruct.dialog, SettingsText.title(of: change)) { [selfDestruct] in
                Task { await selfDestruct.cancel() }
            }
            Task { [selfDestruct] in await selfDestruct.authenticate() }
        case .authenticatingAgain(let change) where selfDestruct.confirmsOwner:
            showOwner(selfDestruct.dialog, SettingsText.title(of: change)) { [selfDestruct] in
                Task { await selfDestruct.cancel() }
            }
            Task { [selfDestruct] in await selfDestruct.finish() }
        case .authenticating(let change):
            ask(SettingsText.title(of: change), SettingsText.first(of: change)) { [selfDestruct] passcode in
                await selfDestruct.authenticate(passcode: passcode.take())
            }
        case .confirming(let change):
            parts.sheets.askConfirmation(
                SettingsText.title(of: change), SettingsText.warning(of: change, selfDestruct),
                confirm: SettingsText.confirm(of: change)
            ) { [selfDestruct] in
                Task { await selfDestruct.confirm() }
            } onCancel: { [selfDestruct] in
                Task { await selfDestruct.cancel() }
            }
        case .counting(let change, let left, let total):
            countdownRow.title = SettingsText.countdown(change, left)
            countdownBar.fraction = Double(total - left) / Double(max(1, total))
            countdownRow.isVisible = true
            // Where it can be seen, and one key away from being cancelled.
            if left == total { countdownCancel.focus() }
        case .authenticatingAgain(let change):
            ask(SettingsText.title(of: change), tr("The countdown is over. Enter the passcode again to finish.")) {
                [selfDestruct] passcode in
                await selfDestruct.finish(passcode: passcode.take())
            }
        }
    }

    private func ask(
        _ title: String, _ text: String, _ answer: @escaping (SecretCarrier) async -> Void
    ) {
        parts.sheets.askPasscode(title, text, confirm: tr("Continue")) { passcode, _ in
            let proof = SecretCarrier(passcode)
            Task { await answer(proof) }
        } onCancel: { [selfDestruct] in
            Task { await selfDestruct.cancel() }
        }
    }

    private func changePasscode() {
        let form = parts.sheets.change
        form.onConfirm = { [model, parts] old, new in
            let (old, new, takesWeak) = (SecretCarrier(old), SecretCarrier(new), form.takesWeak)
            Task {
                let problem = await model.changePasscode(from: old.take(), to: new.take(), takingWeak: takesWeak)
                if let problem { return form.show(problem) }
                parts.sheets.dismiss()
                parts.toast(tr("The passcode was changed"))
            }
        }
        parts.sheets.showChange()
    }

    private func setPIN() {
        let form = parts.sheets.pin
        form.onConfirm = { [model, parts] passcode, pin in
            let (passcode, pin) = (SecretCarrier(passcode), SecretCarrier(pin))
            Task {
                let problem = await model.setPIN(pin.take(), passcode: passcode.take())
                if let problem { return form.show(problem) }
                parts.sheets.dismiss()
                parts.toast(tr("The PIN was set"))
            }
        }
        parts.sheets.showPIN()
    }
}
