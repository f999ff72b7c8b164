import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The identity in its states, with every action: an account at a server that only the owner's devices can use.
final class IdentityPage {
    let root: Widget
    private unowned let parts: ReadyWindow
    private let model: IdentityModel
    private let state: Label, strip: Widget, spinner: Widget, settle: Button, retry: Button
    private let groups: [(Group, Set<IdentityFacts.State>)]
    private let code: Picture, copyContainer: Button
    private let identity = Row(title: tr("Identity")), device = Row(title: tr("This device"))
    private let server = Row(title: tr("Server")), key = Row(title: tr("Server key"))
    private let session = Row(title: tr("Session")), answer = Row(title: tr("Answer"))
    private let asking = Row(title: tr("Ask an app server"))
    private let drill = Row(title: tr("Do you still have the words?"))
    private let forget = Row(title: tr("Forget the identity on this device"))
    private var sessionButtons: [(Button, isOpen: Bool)] = []
    /// Rows for a device without an identity, and for one with an account.
    private var onlyReady: [Row] = [], onlyCreated: [Row] = []
    /// Tries again what failed, with the words that were shown for it.
    private var again: (() async -> Void)?
    /// Why the last action did not happen.
    private var failure: IdentityProblem?

    init(_ parts: ReadyWindow) {
        self.parts = parts
        model = parts.models.identity
        let ui = Builder(PackageResources.identity_ui)
        root = ui.widget("identity")
        state = ui.widget("identity-state")
        strip = ui.widget("identity-strip")
        spinner = ui.widget("identity-spinner")
        settle = ui.widget("identity-settle")
        retry = ui.widget("identity-retry")
        code = ui.widget("identity-code")
        copyContainer = ui.widget("identity-copy-container")
        let (start, facts, waiting): (Group, Group, Group) = (
            ui.widget("identity-start"), ui.widget("identity-facts"), ui.widget("identity-waiting")
        )
        let (sessions, devices, end): (Group, Group, Group) = (
            ui.widget("identity-session"), ui.widget("identity-devices"), ui.widget("identity-end")
        )
        groups = [
            (start, [.ready, .unconfirmed]), (waiting, [.linking]),
            (facts, [.unconfirmed, .linking, .created, .authenticated]),
            (sessions, [.linking, .created, .authenticated]), (devices, [.created, .authenticated]),
            (end, [.unconfirmed, .linking, .created, .authenticated]),
        ]
        fillStart(start)
        fillFact(facts, identity, tr("Copy the identity")) { $0.identity }
        fillFact(facts, device, tr("Copy the device")) { $0.device }
        fillFact(facts, server, tr("Copy the server")) { $0.server }
        fillFact(facts, key, tr("Copy the server key")) { $0.firstKey }
        fillSessions(sessions)
        fillDevices(devices)
        fillEnd(end)
        connect()
    }

    private func connect() {
        let model = model
        settle.onClick { Task { await model.settle() } }
        retry.onClick { [unowned self] in
            guard let again else { return }
            failure = nil
            Task { await again() }
        }
        copyContainer.onClick { [unowned self] in copy(model.container) }
        bind(self, { Shown(model) }) { [unowned self] in show($0) }
        bind(self, { model.container }) { [unowned self] _ in showCode() }
        bind(self, { model.answer }) { [unowned self] in
            answer.subtitle = $0 ?? ""
            answer.isVisible = $0 != nil
        }
        bind(self, { model.outcome }) { [unowned self] in if let outcome = $0 { ended(outcome) } }
    }

    /// The lock fell.
    func drop() {
        failure = nil
        again = nil
    }
}

// The rows.
extension IdentityPage {
    @discardableResult
    private func row(_ group: Group, _ title: String, _ detail: String, _ buttons: Button...) -> Row {
        let row = Row(title: title, subtitle: detail)
        buttons.forEach(row.addSuffix)
        group.add(row)
        return row
    }

    private func button(_ label: String, _ action: @escaping () -> Void) -> Button {
        let button = Button(label: label)
        button.onClick(action)
        return button
    }

    private func fillStart(_ group: Group) {
        let create = row(
            group, tr("Create an identity"), tr("With this device as its first"),
            button(tr("Create…")) { [unowned self] in self.create() })
        let join = row(
            group, tr("Join one of yours"), tr("Another of its devices accepts this one"),
            button(tr("Join…")) { [unowned self] in self.join() })
        onlyReady = [create, join]
        row(
            group, tr("Recover a lost one"), tr("With its recovery phrase; all other devices are removed"),
            button(tr("Recover…")) { [unowned self] in recover() })
    }

    private func fillFact(
        _ group: Group, _ row: Row, _ label: String, _ fact: @escaping (IdentityFacts) -> String?
    ) {
        let copy = Button(icon: "edit-copy-symbolic", label: label)
        copy.onClick { [unowned self] in self.copy(fact(model.facts)) }
        row.addSuffix(copy)
        adw_action_row_set_subtitle_lines(row.pointer(), 0)
        group.add(row)
    }

    private func fillSessions(_ group: Group) {
        let model = model
        let open = button(tr("Open a Session")) { Task { await model.openSession() } }
        let refresh = button(tr("Refresh")) { Task { await model.refreshSession() } }
        let close = button(tr("End the Session")) { Task { await model.endSession() } }
        let ask = button(tr("Send…")) { [unowned self] in request() }
        sessionButtons = [(open, false), (refresh, true), (close, true), (ask, true)]
        for button in [open, refresh, close] { session.addSuffix(button) }
        group.add(session)
        asking.subtitle = tr("Signed with the session's key; the answer's signature is verified")
        asking.addSuffix(ask)
        group.add(asking)
        adw_action_row_set_subtitle_lines(answer.pointer(), 0)
        group.add(answer)
    }

    private func fillDevices(_ group: Group) {
        row(
            group, tr("Link another device"), tr("It shows a container, as text or as a picture"),
            button(tr("Link…")) { [unowned self] in link() })
        row(
            group, tr("Remove a device"), tr("It can no longer act in your name"),
            button(tr("Unlink…")) { [unowned self] in unlink() })
        row(
            group, tr("New key for this device"), tr("The next key takes over; the current one no longer signs"),
            button(tr("Rotate")) { [model] in Task { await model.rotate() } })
        row(
            group, tr("New recovery phrase"), tr("The current one no longer works"),
            button(tr("Replace…")) { [unowned self] in changePhrase() })
        drill.addSuffix(button(tr("Prove It…")) { [unowned self] in proveWords() })
        group.add(drill)
    }

    private func fillEnd(_ group: Group) {
        forget.subtitle = tr("Its keys are erased here; the server keeps the account")
        forget.addSuffix(button(tr("Forget…")) { [unowned self] in erase() })
        group.add(forget)
        onlyCreated = [
            row(
                group, tr("Delete the account"), tr("For all its devices, permanently"),
                button(tr("Delete the Account…")) { [unowned self] in delete() })
        ]
    }
}

// What is shown.
extension IdentityPage {
    private struct Shown: Equatable {
        let facts: IdentityFacts, running: IdentityAction?, prepared: IdentityAction?
        init(_ model: IdentityModel) { (facts, running, prepared) = (model.facts, model.running, model.prepared) }
    }

    private func show(_ shown: Shown) {
        let facts = shown.facts
        let isBusy = shown.running != nil
        for (group, states) in groups {
            group.isVisible = states.contains(facts.state)
            group.isSensitive = !isBusy
        }
        spinner.isVisible = isBusy
        spinner.set("spinning", isBusy)
        for (row, text) in [
            (identity, facts.identity), (device, facts.device), (server, facts.server),
            (key, facts.firstKey.map(IdentityText.firstKey)),
        ] {
            row.subtitle = text ?? ""
            row.isVisible = text != nil
        }
        drill.isVisible = facts.drill != nil
        drill.subtitle = facts.drill.map { IdentityText.of($0) } ?? ""
        drill.setClass("countdown", facts.drill?.isDue ?? false)
        let isOpen = facts.state == .authenticated
        asking.isVisible = isOpen
        for row in onlyReady { row.isVisible = facts.state == .ready }
        for row in onlyCreated { row.isVisible = isOpen || facts.state == .created }
        for (button, wantsOpen) in sessionButtons { button.isVisible = wantsOpen == isOpen }
        session.subtitle =
            facts.sessionEnds.map { tr("Can be refreshed until %s", Format.time(milliseconds: $0)) } ?? ""
        showState(shown)
    }

    private func showState(_ shown: Shown) {
        let isBusy = shown.running != nil
        if let action = shown.running {
            state.text = IdentityText.doing(action)
        } else {
            state.text = failure.map(IdentityText.of) ?? IdentityText.of(shown.facts.state)
        }
        strip.setClass("alarm", !isBusy && failure != nil)
        // The words that were shown are still there: the same ones count.
        retry.isVisible = !isBusy && shown.prepared != nil && failure != nil && again != nil
        settle.isVisible = !isBusy && !retry.isVisible && shown.facts.isUndecided
    }

    private func showCode() {
        guard let matrix = model.containerCode else {
            code.show(nil)
            code.isVisible = false
            copyContainer.isVisible = model.container != nil
            return
        }
        let margin = QRMatrix.margin
        code.show(modules: matrix.width + 2 * margin, size: 280) { matrix.isDark($0 - margin, $1 - margin) }
        code.isVisible = true
        copyContainer.isVisible = true
    }

    private func ended(_ outcome: IdentityModel.Outcome) {
        model.outcome = nil
        failure = outcome.problem
        if outcome.problem == nil {
            again = nil
            let news = model.news.compactMap(IdentityText.of).last
            parts.toast(news ?? IdentityText.done(outcome.action))
        }
        model.news = []
        showState(Shown(model))
    }

    private func copy(_ text: String?) {
        guard let text, !text.isEmpty else { return }
        parts.clipboard.copy(text)
        parts.toast(tr("Copied"))
    }
}

// What is asked.
extension IdentityPage {
    private func ask(_ question: FieldsForm.Question, _ answered: @escaping (FieldsForm.Answer) -> Void) {
        failure = nil
        var question = question
        if question.given[.server] == nil { question.given[.server] = model.facts.server ?? "https://" }
        parts.sheets.askFields(question, answered)
    }

    /// Says what is wrong with what was typed.
    private func refuse(_ problem: IdentityProblem?) -> Bool {
        failure = problem
        again = nil
        showState(Shown(model))
        return problem != nil
    }

    /// Shows the words of a new phrase, and then does what they are for.
    /// - Parameter body: Tries it, and tries it again.
    private func showWords(_ action: IdentityAction, _ body: @escaping () async -> Void) {
        model.prepare(action)
        parts.sheets.showWords { [model] show in
            model.withPhrase { show($0) }
        } _: { [unowned self] in
            again = body
            Task { await body() }
        } onCancel: { [model] in
            model.giveUp()
        }
    }

    /// Asks for the passcode, which proves that it is the owner who sits here: an open vault is not enough for what
    /// cannot be taken back.
    private func prove(
        _ title: String, _ text: String, confirm: String, isDestructive: Bool = false,
        _ answered: @escaping (SecretCarrier) async -> Void,
        onCancel: @escaping () -> Void = {}
    ) {
        parts.sheets.askPasscode(title, text, confirm: confirm, isDestructive: isDestructive) { passcode, _ in
            let carried = SecretCarrier(passcode)
            Task { await answered(carried) }
        } onCancel: {
            onCancel()
        }
    }

    private func create() {
        ask(
            .init(
                title: tr("Create an Identity"), text: tr("Which server keeps the account?"), confirm: tr("Continue"),
                fields: [.server])
        ) { [unowned self, model] answer in
            let server = answer[.server]
            if refuse(IdentityModel.problem(server: server)) { return }
            showWords(.create) { await model.create(at: server) }
        }
    }

    private func join() {
        ask(
            .init(
                title: tr("Join One of Yours"),
                text: tr("A device that belongs to the identity shows its name."),
                confirm: tr("Create the Container"),
                fields: [.server, .identity])
        ) { [model] answer in
            Task { await model.makeContainer(for: answer[.identity], at: answer[.server]) }
        }
    }

    private func recover() {
        ask(
            .init(
                title: tr("Recover an Identity"),
                text: tr(
                    "Enter its name and its recovery phrase. A new phrase is shown next; the old one stays valid until the server has the new one."
                ),
                confirm: tr("Continue"), fields: [.server, .identity, .phrase])
        ) { [unowned self, model] answer in
            guard let phrase = answer.phrase else { return }
            let (server, identity) = (answer[.server], answer[.identity])
            if refuse(IdentityModel.problem(server: server, identity: identity)) { return }
            showWords(.recover) { [weak self] in
                self?.again = nil
                await model.recover(identity, at: server, phrase: phrase.take())
            }
        }
    }

    private func link() {
        ask(
            .init(
                title: tr("Link Another Device"),
                text: tr(
                    "Paste the container that the other device shows. Compare its name if you did not transfer the text yourself."
                ),
                confirm: tr("Link"), fields: [.container])
        ) { [unowned self, model] answer in
            let container = answer[.container]
            if refuse(IdentityModel.problem(container: container)) { return }
            prove(
                tr("Link Another Device"),
                tr("A linked device acts for you. Enter your passcode to confirm."),
                confirm: tr("Link")
            ) { await model.link(container, passcode: $0.take()) }
        }
    }

    private func unlink() {
        ask(
            .init(
                title: tr("Remove a Device"),
                text: tr("Name the device. If it is this one, its keys are erased here."), confirm: tr("Unlink"),
                isDestructive: true, fields: [.device])
        ) { [unowned self, model] answer in
            let device = answer[.device]
            if refuse(IdentityModel.problem(device: device)) { return }
            prove(
                tr("Remove a Device"), tr("Enter your passcode to confirm."), confirm: tr("Unlink"), isDestructive: true
            ) { await model.unlink(device, passcode: $0.take()) }
        }
    }

    private func request() {
        ask(
            .init(
                title: tr("Ask an App Server"),
                text: tr("The JSON is compact, without space between its parts."), confirm: tr("Send"),
                fields: [.server, .path, .json], given: [.path: "/foo/bar", .json: "{}"])
        ) { [model] answer in
            Task { await model.request(answer[.path], answer[.json], at: answer[.server]) }
        }
    }

    private func proveWords() {
        guard let drill = model.facts.drill else { return }
        ask(
            .init(
                title: tr("Prove That You Have the Words"), text: IdentityText.question(drill), confirm: tr("Compare"),
                fields: [drill.positions.isEmpty ? .phrase : .words])
        ) { [model] answer in
            guard let words = answer.phrase else { return }
            Task { await model.drill(words.take()) }
        }
    }

    private func changePhrase() {
        showWords(.changeRecovery) { [unowned self] in proveChange() }
    }

    /// When the words are on paper; whoever turns away can be asked again for as long as they are shown here.
    private func proveChange() {
        failure = nil
        prove(
            tr("New Recovery Phrase"), tr("Enter your passcode to confirm the new words."), confirm: tr("Replace")
        ) { [model] in
            await model.changeRecovery(passcode: $0.take())
        } onCancel: { [model] in
            model.giveUp()
        }
    }

    private func delete() {
        prove(
            tr("Delete the Account?"),
            tr(
                "This deletes the identity for all its devices. It cannot be undone, and the name can never be used again."
            ),
            confirm: tr("Delete Permanently"), isDestructive: true
        ) { [model] in await model.delete(passcode: $0.take()) }
    }

    private func erase() {
        prove(
            tr("Forget the Identity Here?"),
            tr("This device's keys are erased. Without another device or the recovery phrase the account is lost."),
            confirm: tr("Forget"), isDestructive: true
        ) { [model] in await model.erase(passcode: $0.take()) }
    }
}
