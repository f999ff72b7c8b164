import CAdw
import DeviceOwner
import GtkKit
import HoldfastUI

/// The one window: the assistant, the vault behind its lock, or the end.
final class MainWindow {
    private enum Shown: Equatable { case setup, ready, destroyed(String), failed(VaultProblem) }

    private let app: Application
    private let window: Window
    private let ui: Builder
    private let appModel: AppModel
    private var setup: SetupPage?
    private var ready: ReadyWindow?
    private var events: SessionEvents?

    init(_ app: Application, _ place: Place) {
        self.app = app
        app.addStyle(PackageResources.style_css)
        app.addIcons(place.icons)
        ui = Builder(PackageResources.window_ui)
        window = ui.widget("window")
        window.setApplication(app)
        var options = AppModel.Options()
        options.beginning = .assistant
        appModel = AppModel(at: place.home, interface: "desktop", options)
        _ = app.action("quit", keys: ["<Control>q"]) { [unowned self] in self.window.close() }
        _ = app.action("shortcuts", keys: ["<Control>question", "F1"]) { [unowned self] in showShortcuts() }
        _ = app.action("about", keys: []) { [unowned self] in showAbout() }
        bind(self, { [appModel] in MainWindow.shown(appModel.phase) }) { [unowned self] in show($0) }
        events = SessionEvents { [unowned self] in happened($0) }
    }

    private func happened(_ event: SessionEvent) {
        let letSleep = { [unowned self] in events?.allowSleep() ?? () }
        if let ready { return ready.happened(event, letSleep) }
        guard event.closes else { return }
        Task {
            if let setup { await setup.suspend(event.ofLock) }
            if event == .sleeps { letSleep() }
        }
    }

    func present() {
        window.present()
        window.onFirstFrame { Trace.firstFrame() }
    }

    private static func shown(_ phase: AppModel.Phase) -> Shown {
        switch phase {
        case .setup: .setup
        case .ready: .ready
        case .destroyed(let path): .destroyed(path)
        case .failed(let problem): .failed(problem)
        // Of an app that begins without the assistant.
        case .opening, .stopped: .failed(.shareUnavailable)
        }
    }

    private func show(_ shown: Shown) {
        let place: Widget = ui.widget("setup-place")
        let content: Widget = ui.widget("ready")
        let ended: Widget = ui.widget("ended")
        let page: StatusPage = ui.widget("ended-page")
        if shown != .setup, setup != nil {
            setup?.end()
            setup = nil
        }
        switch appModel.phase {
        case .setup(let model):
            let page = SetupPage(model, window) { [appModel] in Task { await appModel.finishSetup() } }
            adw_bin_set_child(place.pointer(), page.root.widget)
            setup = page
        case .ready(let models):
            if ready == nil { ready = ReadyWindow(ui, window, app, models, appModel) }
        case .destroyed(let path):
            page.title = tr("This Vault Was Destroyed")
            page.detail = tr("Nothing in it can be opened. The receipt is in %s", path)
        case .failed(let problem):
            page.title = tr("The Vault Cannot Be Used")
            page.detail = ProblemText.of(problem)
        case .opening, .stopped:
            page.title = tr("The Vault Cannot Be Used")
            page.detail = ProblemText.of(.shareUnavailable)
        }
        place.isVisible = shown == .setup
        content.isVisible = shown == .ready
        ended.isVisible = shown != .setup && shown != .ready
    }

    private func showShortcuts() {
        let dialog: Window = Builder(PackageResources.shortcuts_ui).widget("shortcuts")
        dialog.setModalParent(window)
        dialog.present()
    }

    private func showAbout() {
        let about = adw_about_window_new()!
        let dialog = Window(about)
        adw_about_window_set_application_name(dialog.opaque, "Holdfast")
        adw_about_window_set_application_icon(dialog.opaque, Place.id)
        adw_about_window_set_version(dialog.opaque, Version.text)
        adw_about_window_set_comments(
            dialog.opaque, tr("Keeps your data locked until you unlock it"))
        adw_about_window_set_developer_name(dialog.opaque, tr("The Holdfast authors"))
        dialog.setModalParent(window)
        dialog.present()
    }
}
