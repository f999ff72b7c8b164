internal import VaultFormat
internal import VaultHeader
package import VaultWipe
package import VaultStorage

extension Vault {
    /// Tells what a wipe would erase.
    /// - Throws: `damaged` when the header or the journal is not what was written, `inputOutput`.
    package func wipePlan() throws(VaultError) -> WipePlan {
        let vault = try id
        var steps: [WipePlan.Step] = []
        if let keys = WipeTargetID(HomeTarget.keys) {
            let size = try size(of: HeaderFile.name)
            steps.append(
                .init(target: keys, what: "slots and wrapped keys", method: .overwritten, files: 1, bytes: size ?? 0))
        }
        let header = try HeaderFile.read(in: home)
        if let id = WipeTargetID(HardwareTarget.id), header.namesHardware {
            let method = owner(of: header) == nil ? WipePlan.Method.left : .released
            steps.append(.init(target: id, what: HardwareTarget.what, method: method, files: 0, bytes: 0))
        }
        for target in HomeTarget.all {
            var (files, bytes): (Int, UInt64) = (0, 0)
            for name in try paths(of: target) {
                guard let size = try size(of: name) else { continue }
                files += 1
                bytes += size
            }
            guard files > 0 else { continue }
            var method = WipePlan.Method.removed
            switch target.way {
            case .overwrite, .overwriteFolder: method = .overwritten
            case .remove, .folder: break
            }
            steps.append(.init(target: target.id, what: target.what, method: method, files: files, bytes: bytes))
        }
        let known = try WipeTargetID.all(of: settings.wipeTargets)
        let journal = try WipeJournalFile.read(in: home, vault: vault)
        let waiting = (journal?.items ?? []).map(\.target).filter { $0.isOfApp && !known.contains($0) }
        for (id, method) in known.map({ ($0, WipePlan.Method.byApp) }) + waiting.map({ ($0, .waiting) }) {
            steps.append(.init(target: id, what: "registered by an app", method: method, files: 0, bytes: 0))
        }
        let strangers = try home.names(in: ".").filter { !HomeTarget.knownNames.contains($0) }
        return WipePlan(steps: steps, strangers: strangers, warnings: try wipeWarnings())
    }

    /// What a wipe, by its owner or by the rules, ends beside this folder, or leaves behind in the chip and the
    /// keyring: in whole sentences, to be told before. Empty where they hold nothing for the vault.
    /// - Throws: `damaged` when the header is not what was written, `inputOutput`.
    package func wipeWarnings() throws(VaultError) -> [String] {
        let header = try HeaderFile.read(in: home)
        let namesCounted = !HardwareNote(of: header).isEmpty
        guard namesCounted || !header.shareItems.isEmpty else { return [] }
        guard owner(of: header) != nil else {
            return [
                "What the TPM or the keyring holds for this vault was made for another folder and stays: this one is a "
                    + "backup, was restored from one, or its wipe.key was taken away or exchanged. If it is the vault itself, "
                    + "claim the hardware first: the wipe then takes what they hold, too."
            ]
        }
        var warnings: [String] = []
        if namesCounted {
            warnings.append(
                "The TPM and the keyring let go of what they hold for this vault. Backups and other copies use it too: what "
                    + "opens them afterwards is the recovery phrase, or a passcode that is not under the TPM.")
        } else if header.shareItems.allSatisfy({ $0.store == .file }) {
            warnings.append(
                "The key that opens this vault is in its folder. It is erased with it, but copies of the folder have it too, and still "
                    + "open.")
        } else {
            let hasSecret = header.passcodeSlot != nil || header.recoverySlot != nil
            warnings.append(
                "The key store lets go of the share that opens this vault. Copies of this folder no longer open with it"
                    + (hasSecret
                        ? ", only with the passcode or the recovery phrase." : ", and nothing else opens them."))
        }
        if WipeKeyFile.isFromElsewhere(home) {
            warnings.append(
                "This folder is a copy of the one that the vault was made in, or was moved. If the vault is still used in "
                    + "another folder, it loses them too.")
        }
        return warnings
    }

    private func paths(of target: HomeTarget) throws(VaultError) -> [String] {
        let name: String
        switch target.way {
        case .overwrite, .remove: return target.names
        case .folder(let folder), .overwriteFolder(let folder): name = folder
        }
        guard case .folder = try home.kind(of: name) else { return [] }
        return try home.names(in: name).map { "\(name)/\($0)" }
    }

    private func size(of name: String) throws(VaultError) -> UInt64? {
        guard case .file(_, let size) = try home.kind(of: name) else { return nil }
        return size
    }
}
