public import BetterAuth

extension HoldfastApp {
    /// The identity of this device, whose credentials rest in the vault and whose keys are made in the device's Secure
    /// Enclave or TPM where there is one, else in the vault. Every operation needs the open lock; operations that could
    /// permanently take the identity away need a proof as well: ``AppLockCore/AppLock/prove(passcode:)``.
    ///
    /// One at a time: two would each write what the other does not know.
    /// - Parameters:
    ///   - server: The server of the identity.
    ///   - transport: The way there.
    ///   - trust: How its response key is known.
    ///   - notify: Called with notices to show the user; it must not call back into the client.
    public func identity(
        at server: ServerAddress, over transport: any Transport, trust: ResponseTrust,
        notify: @escaping @Sendable (IdentityNotice) -> Void = { _ in }
    ) -> VaultIdentity {
        VaultIdentity(
            in: vault, keys: ChipDeviceKeys.standard(for: vault), transport: transport, server: server, trust: trust,
            notify: notify)
    }
}
