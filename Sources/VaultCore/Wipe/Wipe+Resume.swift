internal import VaultFormat

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

extension Wipe {
    /// Finishes a wipe that was begun, or whose time has come, before anything else is done with the home.
    /// - Throws: `wiped` when there was one, finished or not.
    static func finishIfBegun(in home: HomeDirectory, _ settings: VaultSettings) throws(VaultError) {
        guard let file = try home.openFile(HeaderFile.name, O_RDONLY) else { return }
        guard due(try file.read(Header.fileSize, at: 0), home, settings) != nil else { return }
        if let error = finish(in: home, settings) { throw error }
    }

    /// As ``finishIfBegun(in:_:)`` under the header's lock.
    /// - Returns: What to throw; nil when no wipe is due after all.
    static func finish(in home: HomeDirectory, _ settings: VaultSettings) -> VaultError? {
        do throws(VaultError) {
            let header = try LockedHeader.lock(home, flags: O_RDWR, 30_000)
            guard let mark = due(try header.read(Header.fileSize, at: 0), home, settings) else { return nil }
            return Wipe(home, settings, mark).run(header).error
        } catch {
            // Another process that held the lock has finished it, or nobody can: the vault is shut either way.
            if error.code == .wiped { return error }
            return VaultError(
                .wiped,
                "this vault is to be destroyed, which cannot be done now (\(error.reason)); it goes on at the next start",
                remainingAttempts: 0)
        }
    }

    /// What says that there is a wipe: a mark, or a ledger at its limit under a header with self-destruct on.
    private static func due(_ bytes: [UInt8], _ home: HomeDirectory, _ settings: VaultSettings) -> WipeMark? {
        if let mark = HeaderFile.mark(in: bytes) { return mark }
        guard let header = try? HeaderFile.decide(bytes).header, header.policy.selfDestruct else { return nil }
        let now = settings.clock.now()
        // A ledger that cannot be read says nothing, and nothing never destroys.
        let budget = try? AttemptLedger.peek(in: home, vault: header.vault, policy: header.policy, now: now)
        guard budget?.decision(at: now) == .destroy else { return nil }
        return WipeMark(vault: header.vault, cause: .attempts, begun: Wipe.now())
    }

    /// A home where a wipe has ended: no header, and a receipt.
    static func finished(in home: HomeDirectory) -> VaultError? {
        guard !home.exists(HeaderFile.name), let receipt = WipeReceiptFile.read(in: home) else { return nil }
        return done(receipt, in: home)
    }
}

extension HeaderFile {
    /// A copy of the header that a wipe has not come to yet.
    static func left(in bytes: [UInt8]) -> Header? {
        for start in [0, Header.copySize] where bytes.count >= start + Header.copySize {
            let copy = Array(bytes[start..<start + Header.copySize])
            if let header = try? Header(parsing: copy, checksum: checksum) { return header }
        }
        return nil
    }

    /// The mark of a wipe in the place of either copy.
    static func mark(in bytes: [UInt8]) -> WipeMark? {
        for start in [0, WipeMark.size] where bytes.count >= start + WipeMark.size {
            guard bytes[start...].starts(with: WipeMark.magic) else { continue }
            let copy = Array(bytes[start..<start + WipeMark.size])
            if let mark = try? WipeMark(parsing: copy, checksum: checksum) { return mark }
        }
        return nil
    }
}
