internal import KeyStores
internal import SecretMemory
internal import VaultFormat

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Remembers shares in hardware while the header changes from one to another, so that a process that is killed in between
/// leaves none behind: after it, every share that the header does not name is destroyed.
///
/// The file is no secret and nothing depends on it: without it a share that opens nothing stays in the chip.
enum PendingShares {
    static let name = "hardware.pending"
    private static let mark = Array("HFPEND01".utf8)
    private static let largest = 8192

    /// Durable when it returns.
    static func write(_ objects: [HardwareObject], in home: HomeDirectory) throws(VaultError) {
        var bytes = mark
        for part in objects.flatMap({ [$0.name, $0.data] }) {
            bytes += [UInt8(part.count & 0xff), UInt8(part.count >> 8 & 0xff)] + part
        }
        unsafe bytes += HeaderFile.checksum(bytes.span.bytes)
        let isNew = !home.exists(name)
        guard let file = try home.openFile(name, O_RDWR | O_CREAT) else {
            throw .damaged("\(name) cannot be created")
        }
        try file.write(bytes, at: 0)
        try file.truncate(to: UInt64(bytes.count))
        try file.synchronize()
        if isNew { try home.synchronize() }
    }

    /// Nil where nothing is noted; empty for a note that was not finished: what it was to name was not made yet.
    static func read(in home: HomeDirectory) -> [HardwareObject]? {
        guard let file = try? home.openFile(name, O_RDONLY) else { return nil }
        guard let bytes = try? file.read(largest, at: 0), bytes.count >= mark.count + 32, bytes.starts(with: mark)
        else {
            return []
        }
        let covered = Array(bytes.dropLast(32))
        guard unsafe HeaderFile.checksum(covered.span.bytes) == Array(bytes.suffix(32)) else { return [] }
        var parts: [[UInt8]] = []
        var place = mark.count
        let end = bytes.count - 32
        while place + 2 <= end {
            let size = Int(bytes[place]) | Int(bytes[place + 1]) << 8
            guard place + 2 + size <= end else { return [] }
            parts.append(Array(bytes[place + 2..<place + 2 + size]))
            place += 2 + size
        }
        guard place == end, parts.count.isMultiple(of: 2) else { return [] }
        return stride(from: 0, to: parts.count, by: 2).map { HardwareObject(name: parts[$0], data: parts[$0 + 1]) }
    }
}

/// A tier that notes each share before the hardware has it.
struct NotingTier: AttemptTier {
    let tier: any AttemptTier
    let home: HomeDirectory

    var assurance: Assurance { tier.assurance }

    func makeShare(authorisation: borrowing SecretBytes, limit: Int) throws(KeyStoreError) -> HardwareShare {
        try tier.makeShare(authorisation: authorisation, limit: limit) { object throws(KeyStoreError) in
            do throws(VaultError) { try PendingShares.write([object], in: home) } catch {
                throw KeyStoreError(.failure, error.reason)
            }
        }
    }

    func redeem(_ object: HardwareObject, authorisation: borrowing SecretBytes) throws(KeyStoreError) -> Redemption {
        try tier.redeem(object, authorisation: authorisation)
    }

    func destroy(_ object: HardwareObject) throws(KeyStoreError) { try tier.destroy(object) }
}

extension Vault {
    /// The hardware that new shares are made with.
    var notingTier: (any AttemptTier)? { settings.tier.map { NotingTier(tier: $0, home: home) } }

    /// Notes what a header that is about to be written lets go of.
    func noteShares(of old: Slot?, and new: Slot?) throws(VaultError) {
        let objects = [old, new].compactMap(\.?.hardwareObject)
        guard old?.hardwareObject != nil, old?.salt != new?.salt else { return }
        try PendingShares.write(objects, in: home)
    }

    /// Destroys what is noted and not named by the header, which the caller holds. What cannot be destroyed now stays noted.
    func sweepShares(_ header: Header) {
        guard let noted = PendingShares.read(in: home) else { return }
        guard let tier = settings.tier else { return }
        let kept = header.passcodeSlot?.hardwareObject?.name
        var isClean = true
        for object in noted where object.name != kept {
            do throws(KeyStoreError) { try tier.destroy(object) } catch { isClean = false }
        }
        if isClean { home.remove(PendingShares.name) }
    }
}

extension Slot {
    /// What the slot's share is found by; nil where it has none.
    var hardwareObject: HardwareObject? {
        flags.contains(.hardwareShare) ? HardwareObject(name: hardwareName, data: kindData) : nil
    }
}
