internal import Items
package import SecretMemory
package import SyncFormat
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// A shadow in memory: its front, and its state.
package struct Shadow: ~Copyable {
    package var front: ShadowLayout
    package var state: SecretBytes

    /// The name of an item's shadow among the sync's own records. One that is larger than a record has more of them.
    static func name(of id: SyncItemID, part: Int = 0, _ kind: Kind = .shown) -> String {
        part == 0 ? "\(kind.rawValue)\(id)" : "\(kind.rawValue)\(id).\(part)"
    }

    /// What a record has of an item.
    enum Kind: String {
        /// What was shown last.
        case shown = "i"
        /// What came when the item's record was not reached.
        case waiting = "j"
    }

    /// The item of a shadow's first record; nil for every other record.
    static func id(ofName name: String) -> SyncItemID? {
        guard name.utf8.first == UInt8(ascii: "i"), name.utf8.count == 33,
            let bytes = Hexadecimal.decode(name.dropFirst())
        else { return nil }
        return SyncItemID(bytes)
    }

    static func layout(_ bytes: RawSpan) throws(VaultError) -> ShadowLayout {
        do throws(FormatError) { return try ShadowLayout(parsing: bytes) } catch { throw VaultError(.format(error)) }
    }
}

extension WriteSession {
    /// An item's shadow; nil when it was never met.
    mutating func shadow(of id: SyncItemID, _ kind: Shadow.Kind = .shown) throws(VaultError) -> Shadow? {
        var buffer = SecretBuffer(limit: 2 * StateLimits.size)
        var part = 0
        while try append(Shadow.name(of: id, part: part, kind), to: &buffer) { part += 1 }
        guard part > 0 else { return nil }
        return try buffer.withBytes { bytes throws(VaultError) in
            let front = try Shadow.layout(bytes)
            let state = bytes.extracting(front.stateOffset..<bytes.byteCount)
            do throws(SecretMemoryError) {
                return Shadow(front: front, state: try SecretBytes(copying: state))
            } catch { throw VaultError(error) }
        }
    }

    private mutating func append(_ name: String, to buffer: inout SecretBuffer) throws(VaultError) -> Bool {
        let copy = try withSync(name) { bytes throws(VaultError) in
            do throws(SecretMemoryError) { return try SecretBytes(copying: bytes) } catch { throw VaultError(error) }
        }
        guard let copy else { return false }
        do throws(SecretMemoryError) {
            try copy.withBytes { bytes throws(SecretMemoryError) in try buffer.append(bytes) }
        } catch { throw VaultError(error) }
        return true
    }

    /// Stores a shadow in place of what is there.
    mutating func store(
        _ front: ShadowLayout, _ state: RawSpan, of id: SyncItemID, _ kind: Shadow.Kind = .shown
    ) throws(VaultError) {
        var buffer = SecretBuffer(limit: 2 * StateLimits.size)
        do throws(SecretMemoryError) {
            try unsafe buffer.append(front.front.span.bytes)
            try buffer.append(state)
        } catch { throw VaultError(error) }
        let parts = (buffer.count + Vault.largestInlineValue - 1) / Vault.largestInlineValue
        for part in 0..<parts {
            let start = part * Vault.largestInlineValue
            let end = min(start + Vault.largestInlineValue, buffer.count)
            try buffer.withBytes { bytes throws(VaultError) in
                try put(sync: bytes.extracting(start..<end), for: Shadow.name(of: id, part: part, kind))
            }
        }
        try remove(from: parts, of: id, kind)
    }

    /// Removes what waits for an item's record to be reached.
    mutating func removeWaiting(of id: SyncItemID) throws(VaultError) { try remove(from: 0, of: id, .waiting) }

    private mutating func remove(from first: Int, of id: SyncItemID, _ kind: Shadow.Kind) throws(VaultError) {
        var part = first
        while try withSync(Shadow.name(of: id, part: part, kind), { _ throws(VaultError) in true }) == true {
            try delete(sync: Shadow.name(of: id, part: part, kind))
            part += 1
        }
    }
}
