import CAdw
import DeviceOwner
import GtkKit
import HoldfastUI

/// The one window: the vault behind its lock, why there is none, or the assistant.
final class MainWindow {
    private enum Shown: Equatable {
        case opening, setup(ObjectIdentifier), ready(ObjectIdentifier), stopped(ObjectIdentifier)
        case destroyed(String), failed(VaultProblem)
    }

    private let app: Application
    private let window: Window
    private let ui: Builder
    private let place: Place
    private let appModel: AppModel
    private let vaults: OtherVaults
    private lazy var stop = StopPage(vaults)
    private var setup: SetupPage?
    private var ready: ReadyWindow?
    private var events: SessionEvents?
    private var isPresented = false
    /// Whether the first frame is on the screen.
    private var isPainted = false

    init(_ app: Application, _ place: Place) {
        self.app = app
        self.place = place
        app.addStyle(PackageResources.style_css)
        app.addIcons(place.icons)
        ui = Builder(PackageResources.window_ui)
        window = ui.widget("window")
        window.setApplication(app)
        appModel = AppModel(besideCommandAt: place.home, interface: "desktop")
        vaults = OtherVaults(app, window, place, appModel)
        vaults.stopPage = { [unowned self] in stop }
        _ = app.action("quit", keys: ["<Control>q"]) { [unowned self] in
            if let ready { ready.leaving { [window] in window.close() } } else { window.close() }
        }
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

    /// Puts the window in front. The first time it comes with what it has to show, unless that takes long.
    func present() {
        guard !isPresented, appModel.isOpening else { return reveal() }
        Task { [weak self, appModel] in
            await appModel.opened()
            if let self, !isPresented { reveal() }
        }
        Task { [weak self] in
            try? await Task.sleep(for: MainWindow.patience)
            if let self, !isPresented { reveal() }
        }
    }

    /// What a key store may take before there is a window that says so.
    private static let patience = Duration.seconds(1)

    private func reveal() {
        let isFirst = !isPresented
        isPresented = true
        if isFirst, appModel.isOpening { show(.opening) }
        window.present()
        guard isFirst else { return }
        window.onFirstFrame { [weak self] in
            Trace.firstFrame()
            self?.isPainted = true
            self?.ready?.prepare()
        }
    }

    private static func shown(_ phase: AppModel.Phase) -> Shown {
        switch phase {
        case .opening: .opening
        case .setup(let model): .setup(ObjectIdentifier(model))
        case .ready(let models): .ready(ObjectIdentifier(models))
        case .stopped(let model): .stopped(ObjectIdentifier(model))
        case .destroyed(let path): .destroyed(path)
        case .failed(let problem): .failed(problem)
        }
    }

    private func show(_ shown: Shown) {
        setup?.end()
        setup = nil
        var page: Widget?
        switch appModel.phase {
        case .opening:
            guard isPresented else { return }
            stop.showOpening()
            page = stop.root
        case .setup(let model):
            let assistant = SetupPage(
                model, window, onFinish: { [appModel] in Task { await appModel.finishSetup() } },
                onLeave: appModel.canLeaveSetup ? { [appModel] in appModel.leaveSetup() } : nil)
            setup = assistant
            page = assistant.root
        case .ready(let models):
            if let ready, ready.models !== models { return Place.beginAnew(with: place.isOther ? place.home : nil) }
            if ready == nil {
                ready = ReadyWindow(ui, window, app, models, appModel)
                if isPainted { ready?.prepare() }
            }
        case .stopped(let model):
            stop.show(model)
            page = stop.root
        case .destroyed(let path):
            stop.showEnd(
                tr("This Vault Was Destroyed"), tr("Nothing in it can be opened. The receipt is in %s", path))
            page = stop.root
        case .failed(let problem):
            stop.showEnd(tr("The Vault Cannot Be Used"), ProblemText.of(problem))
            page = stop.root
        }
        let around: Widget = ui.widget("setup-place")
        let content: Widget = ui.widget("ready")
        if let page, adw_bin_get_child(around.pointer()) != page.widget {
            adw_bin_set_child(around.pointer(), page.widget)
        }
        around.isVisible = page != nil
        content.isVisible = page == nil
        vaults.ready = page == nil ? ready : nil
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
