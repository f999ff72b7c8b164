internal import VaultFormat

/// Whether a folder is the home that its header was written for: a pure decision, made once for each change from one look at
/// the disk. A key that is planted after that look changes nothing about the change.
enum HomeStanding: Sendable, Hashable {
    /// The header's wipe key lies here: what hardware holds for the header is this home's to let go of.
    case own
    /// Another key lies here, or none, and nothing in hardware hangs on that: a backup, for example. It becomes a home of its
    /// own with its next change.
    case copy
    /// Another key lies here, or none, and the header names things in hardware. A backup looks like this, and so does the
    /// vault itself once a program has exchanged its key. Only the user knows which it is.
    case unsettled

    /// - Parameters:
    ///   - header: What the header says the home is (``Header/home``).
    ///   - stored: What the stored wipe key comes to; nil where there is none that can be read.
    ///   - namesHardware: Whether the header, or a note of this vault, names anything in hardware.
    init(header: [UInt8], stored: [UInt8]?, namesHardware: Bool) {
        if let stored, stored == header {
            self = .own
        } else {
            self = namesHardware ? .unsettled : .copy
        }
    }
}

/// What the user says of a folder whose header names things in a chip or key store that the folder is not known to own.
public enum HardwareDecision: Sendable, Hashable {
    /// The folder is the vault itself, and its own key is put back.
    case claim
    /// The folder is a copy. It gets a key of its own, and leaves those things to the vault that it was copied from.
    case leave
}
