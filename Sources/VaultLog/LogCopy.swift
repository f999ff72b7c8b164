package import VaultFormat
package import VaultStorage
internal import SystemCalls

extension SecurityLog {
    /// Gives a copy of a home the log of the one it was copied from, to be read there, but not its key, with which a
    /// finder of the copy could read and continue what the first one adds later. The copy's first unlock begins a chain
    /// of its own and keeps the newest part of this one.
    ///
    /// A log that cannot be read gives a copy without; it says so itself when it is opened.
    /// - Throws: What writing into `target` throws.
    package static func copy(
        from source: HomeDirectory, to target: HomeDirectory, vault: VaultID, as kind: LogState.Kind
    ) throws(VaultError) {
        let file = (try? LogStateFile.open(.reading, in: source, vault: vault)) ?? nil
        for name in [LogSegment.name, LogSegment.previousName] {
            guard let bytes = (try? LogSegment.bytes(name, in: source)) ?? nil else { continue }
            guard let copy = try target.openFile(name, O_RDWR | O_CREAT | O_EXCL) else { continue }
            try copy.write(bytes, at: 0)
            try copy.synchronize()
        }
        guard var state = file?.state else { return }
        state.kind = kind
        state.run = nil
        state.recipient = nil
        guard let copy = try LogStateFile.open(.creating, in: target, vault: vault) else { return }
        try copy.writeWithoutKey(state)
    }
}
