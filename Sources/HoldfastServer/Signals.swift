internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import CommandLineArguments
internal import Synchronization
internal import SystemCalls

/// The signals that ask something of a server. They are blocked before any thread starts, so that only the one that
/// waits for them gets them.
enum Signals {
    private static var wanted: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP, SIGUSR1] { unsafe sigaddset(&set, number) }
        return set
    }

    static func hold() {
        var set = wanted
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// What came meanwhile ends the process.
    static func release() {
        var set = wanted
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    enum Request { case stop, reload, goOn }

    /// Ends a wait.
    static func wake() { kill(getpid(), SIGUSR1) }

    /// Asks again for what was asked too early.
    static func askForReload() { kill(getpid(), SIGHUP) }

    /// Waits for one of them, at most some seconds; nil when none came.
    static func wait(seconds: Int) -> Request? {
        var set = wanted
        var limit = timespec(tv_sec: seconds, tv_nsec: 0)
        switch unsafe sigtimedwait(&set, nil, &limit) {
        case SIGHUP: return .reload
        case SIGTERM, SIGINT: return .stop
        case SIGUSR1: return .goOn
        default: return nil
        }
    }

    /// Waits for a server that has nothing to reload.
    /// - Returns: Whether it is asked to stop.
    static func stops(within seconds: Int) -> Bool {
        switch wait(seconds: seconds) {
        case .stop, .reload: true
        case .goOn, nil: false
        }
    }
}

/// The settings that a server runs with at the moment.
final class Reloadable: Sendable {
    private struct State {
        var settings: ServeSettings
        var certificate: CertificateDates?

        init(_ settings: ServeSettings) {
            self.settings = settings
            certificate = settings.front.certificate.flatMap { CertificateDates(pem: $0) }
        }
    }

    private let state: Mutex<State>

    init(_ settings: ServeSettings) { state = Mutex(State(settings)) }

    var settings: ServeSettings { state.withLock { $0.settings } }
    var attributes: ApplicationData { state.withLock { $0.settings.attributes } }
    var certificate: CertificateDates? { state.withLock { $0.certificate } }

    func reload(_ settings: ServeSettings) { state.withLock { $0 = State(settings) } }

    /// Options of `serve` that a reload takes over.
    private static let taken = [
        ServerOptions.log.option, ServerOptions.certificate.option, ServerOptions.certificateKey.option,
        ServerOptions.trustedProxy.option, ServerOptions.metricsFrom.option, ServerOptions.addressRate.option,
        ServerOptions.attributes.option,
    ]

    /// Those that only a restart does.
    static let fixed = ServerCommand.serve.syntax.options.filter { !taken.contains($0) }
}
