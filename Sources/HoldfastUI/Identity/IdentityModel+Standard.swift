internal import BetterAuth
internal import BetterAuthMessages
internal import BetterAuthTransport
internal import Holdfast
internal import SystemCalls

extension IdentityModel {
    /// Over HTTPS, as the command does it: a server's response key is believed at first use and then only that one, or the
    /// chain of keys that was named once.
    convenience init(_ lock: LockModel) {
        self.init(lock) { vault, server, notify in
            let transport = SystemTransport()
            var trust = ResponseTrust.firstUse
            if let chain = (try? VaultIdentity.credentials(in: vault))?.keyChain,
                let service = try? ServerAddress(chain.service, allowsPlain: true)
            {
                trust = .source(
                    EndorsedServerKeys(trusting: chain.identity, from: HTTPKeyService(at: service, over: transport)))
            }
            return VaultIdentity(
                in: vault, keys: ChipDeviceKeys.standard(for: vault), transport: transport, server: server,
                trust: trust, now: { .now }, notify: notify)
        }
    }
}
