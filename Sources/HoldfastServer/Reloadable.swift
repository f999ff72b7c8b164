internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import CommandLineArguments
internal import Synchronization

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

    func take(_ settings: ServeSettings) { state.withLock { $0 = State(settings) } }

    /// Options of `serve` that a reload takes over.
    private static let taken = [
        ServerOptions.log.option, ServerOptions.certificate.option, ServerOptions.certificateKey.option,
        ServerOptions.trustedProxy.option, ServerOptions.metricsFrom.option, ServerOptions.requestSeconds.option,
        ServerOptions.connectionsPerAddress.option, ServerOptions.addressRate.option,
        ServerOptions.creationRate.option, ServerOptions.challengeRate.option, ServerOptions.attributes.option,
    ]

    /// Those that only a restart does.
    static let fixed = ServerCommand.serve.syntax.options.filter { !taken.contains($0) }
}
