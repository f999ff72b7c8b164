internal import KeyStores
package import VaultFormat
package import VaultHeader
package import VaultStorage
internal import SystemCalls

extension Wipe {
    /// Finishes a wipe that was begun at this place, whatever else is there.
    /// - Throws: `wiped` when there was one.
    package static func finish(at path: String) throws(VaultError) {
        guard let home = try? HomeDirectory(path: path) else { return }
        try finishIfBegun(in: home, .standard)
    }

    /// Finishes a wipe that was begun, or whose time has come, before anything else is done with the home. A mark that
    /// this home's wipe key did not make is none.
    /// - Throws: `wiped` when there was one, finished or not.
    package static func finishIfBegun(in home: HomeDirectory, _ settings: VaultSettings) throws(VaultError) {
        guard let file = try home.openFile(HeaderFile.name, O_RDONLY, evenIfLinked: true) else {
            return WipeKeyFile.removeLeftover(in: home)
        }
        guard isDue(try file.read(Header.fileSize, at: 0), home, settings) else { return }
        if let error = finish(in: home, settings) { throw error }
    }

    /// As ``finishIfBegun(in:_:)`` under the header's lock.
    /// - Returns: What to throw; nil when no wipe is due after all.
    package static func finish(in home: HomeDirectory, _ settings: VaultSettings) -> VaultError? {
        switch resume(in: home, settings, patience: 30_000) {
        case .none: nil
        case .running(let error), .over(let error): error
        }
    }

    /// How a wipe stands.
    package enum Standing {
        case none
        /// Another thread or process is at it.
        case running(VaultError)
        /// Nobody is at it any more. What could not be erased waits for the next start.
        case over(VaultError)
    }

    /// As ``finish(in:_:)``.
    /// - Parameter patience: Milliseconds that whoever is at it is waited for.
    package static func resume(in home: HomeDirectory, _ settings: VaultSettings, patience: Int) -> Standing {
        do throws(VaultError) {
            let header = try LockedHeader.lock(home, flags: O_RDWR, patience, evenIfLinked: true)
            let bytes = try header.read(Header.fileSize, at: 0)
            if let begun = HeaderFile.genuineMark(in: bytes, home) {
                return .over(Wipe(home, settings, begun.mark, begun.owner).run(header).error)
            }
            guard let vault = overdue(bytes, home, settings) else { return .none }
            return .over(byRules(of: vault, in: home, settings, header).error)
        } catch {
            // Another process with the lock has finished it, or it cannot be finished: either way the vault is closed.
            if error.code == .wiped { return .over(error) }
            let unfinished = VaultError(
                .wiped,
                "this vault is to be destroyed, which cannot be done now (\(error.reason)); the wipe continues at the next start",
                remainingAttempts: 0)
            return error.code == .busy ? .running(unfinished) : .over(unfinished)
        }
    }

    /// Destroys a vault whose limit was reached. The vault has not been opened: shares in hardware are deleted only if
    /// they were made for this home's wipe key.
    package static func byRules(
        of vault: VaultID, in home: HomeDirectory, _ settings: VaultSettings, _ header: borrowing DurableFile
    ) -> Ending {
        var mark = WipeMark(vault: vault, cause: .attempts, begun: WipeMark.now())
        var owner: HardwareOwner?
        if let key = try? WipeKeyFile.loadOrMake(in: home, vault: vault) {
            owner = key.owner
            // Without a tag no one continues it; but what is done now is done.
            if let tagged = try? key.mark(.attempts) { mark = tagged }
        }
        return Wipe(home, settings, mark, owner).run(header)
    }

    /// What says that there is a wipe: a mark of this home's, or a ledger at its limit under a header with
    /// self-destruct on that a key store vouches for, where there is one.
    private static func isDue(_ bytes: [UInt8], _ home: HomeDirectory, _ settings: VaultSettings) -> Bool {
        HeaderFile.genuineMark(in: bytes, home) != nil || overdue(bytes, home, settings) != nil
    }

    private static func overdue(_ bytes: [UInt8], _ home: HomeDirectory, _ settings: VaultSettings) -> VaultID? {
        guard let header = try? HeaderFile.decide(bytes, home).header, header.policy.selfDestruct else { return nil }
        let now = settings.clock.now()
        // A ledger that cannot be read says nothing, and nothing never destroys.
        let budget = try? AttemptLedger.peek(in: home, vault: header.vault, policy: header.policy, now: now)
        guard let budget, budget.decision(at: now) == .destroy,
            budget.decision(by: DestructionRule(of: header, in: home, settings)) == .destroy
        else { return nil }
        return header.vault
    }
}
