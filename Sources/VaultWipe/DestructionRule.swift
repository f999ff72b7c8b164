package import KeyStores
package import VaultFormat
package import VaultHeader
internal import VaultLog
package import VaultStorage

/// Whether wrong passcodes may destroy a vault whose header nobody has authenticated: a pure decision. What a header
/// says of self-destruct and of its limit is what the last writer of the folder wrote; a key store outside of the
/// folder was told when it was switched on.
package enum DestructionRule: Sendable, Hashable {
    /// No key store that remembers such things is there, or this process may use none: what the header says holds, and
    /// whoever writes the folder could remove it as well.
    case unkept
    /// The key store remembers nothing of it, or nothing that can be understood.
    case unknown
    /// It cannot be asked now.
    case unanswered
    /// It destroys itself after so many wrong passcodes at least.
    case after(Int)

    package enum Decision: Sendable, Hashable {
        case destroy
        /// The passcode opens nothing, and nothing is destroyed.
        case close
        /// As `close`, until the key store can be asked.
        case wait
    }

    /// - Parameters:
    ///   - refused: Wrong passcodes so far.
    ///   - limit: The header's, which they have reached.
    package func decision(refused: UInt32, limit: Int) -> Decision {
        switch self {
        case .unkept: .destroy
        case .unknown: .close
        case .unanswered: .wait
        case .after(let noted): refused >= UInt32(max(noted, limit)) ? .destroy : .close
        }
    }

    /// Asks the key stores about the home that a wipe would let go of things for: the one whose wipe key lies there.
    package init(of header: Header, in home: HomeDirectory, _ settings: VaultSettings) {
        // Nothing was ever noted for a home without a key; the question still tells whether there is a store at all.
        let owner =
            WipeKeyFile.owner(in: home, vault: header.vault) ?? HardwareOwner(vault: header.vault, home: [])
        let stores = settings.shareStores?(home.path)
        self.init(of: owner, stores)
        // A chip that the header names and that does not answer is none that is not there.
        let namesChip =
            header.flags.contains(.generationAnchored) || header.slots.contains { $0.flags.contains(.hardwareShare) }
        if self == .unkept, stores?.hasFloors == true, namesChip { self = .unanswered }
    }

    /// - Parameter owner: Whose home it is.
    package init(of owner: HardwareOwner, _ stores: ShareStores?) {
        guard let stores, stores.hasFloors else {
            self = .unkept
            return
        }
        self.init { () throws(ShareFailure) in try stores.destruction(of: owner) }
    }

    private init(_ ask: () throws(ShareFailure) -> FloorAnswer<DestructionFloor>) {
        do throws(ShareFailure) {
            switch try ask() {
            case .none, .unreadable: self = .unknown
            case .floor(let floor): self = .after(floor.limit)
            }
        } catch {
            if case .unavailable(.absent) = error { self = .unkept } else { self = .unanswered }
        }
    }
}

extension AttemptBudget {
    /// What follows from the limit that these wrong passcodes have reached.
    package func decision(by rule: DestructionRule) -> DestructionRule.Decision {
        rule.decision(refused: refused, limit: policy.attemptLimit)
    }
}

extension VaultError {
    /// The limit is reached under a header that asks for destruction, and there is none.
    package static func notDestroyed(_ decision: DestructionRule.Decision, hasPhrase: Bool) -> VaultError {
        guard decision == .wait else { return .noAttemptLeft(hasPhrase: hasPhrase) }
        return VaultError(
            .attemptsExhausted,
            "no passcode attempt is left; whether this vault is to be destroyed is known once the key store can be asked",
            remainingAttempts: 0)
    }
}
