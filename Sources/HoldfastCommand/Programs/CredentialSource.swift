internal import Holdfast
internal import HoldfastAgent
internal import Items
internal import ProgramProtocols
internal import Synchronization
internal import VaultFormat

/// Where the credentials of units come from: the agent while it is unlocked, else a vault that opens without asking.
/// Used by several threads at once.
final class CredentialSource: Sendable {
    private let home: String
    private let runtime: String?
    /// The vault, once this process has opened it: each unit would have to wait for its TPM otherwise.
    private let own = Mutex<ItemStore?>(nil)

    init(home: String, runtime: String?) {
        self.home = home
        self.runtime = runtime
    }

    /// - Throws: What reading throws; `locked` where nobody has unlocked the vault; `invalidItem` for a secret that is
    ///   empty, with which a unit would start as with one.
    func value(_ wanted: UnitCredential) throws -> SecretBytes {
        let value = try read(wanted)
        guard value.withBytes({ $0.endOfText > 0 }) else {
            throw CommandError.failure(.invalidItem, "the secret is empty")
        }
        return value
    }

    private func read(_ wanted: UnitCredential) throws -> SecretBytes {
        let reference = try SecretReference(collection: UnitCredential.collection, item: wanted.entry)
        switch try AgentClient(home: home, runtime: runtime) {
        case .none: break
        case .some(let agent):
            try agent.introduce()
            do { return try agent.value(of: reference) } catch let error as VaultError where error.code == .locked {}
        }
        return try opened().value(of: reference)
    }

    private func opened() throws -> ItemStore {
        try own.withLock { own in
            // Units that start all the time keep this process: what was done to the vault meanwhile holds here too.
            if let own, (try? own.vault.followHeader { _ in true }) == true { return own }
            own?.vault.lock(because: .ended)
            own = nil
            let vault = try Vault(at: home)
            guard try vault.protection().level == .device else {
                throw CommandError(
                    .refused, code: .locked, "the vault is locked",
                    advice: "holdfast unlock opens it, then start the unit")
            }
            try vault.openByDevice()
            let items = ItemStore(vault)
            own = items
            return items
        }
    }

    /// The vault is locked; to be called when nothing is read any more.
    func close() {
        own.withLock { own in
            own?.vault.lock(because: .ended)
            own = nil
        }
    }
}
