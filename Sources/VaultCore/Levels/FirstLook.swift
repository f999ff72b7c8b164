internal import VaultFormat

/// What an app that is started finds in its folder and its key store: whether there is a vault to open, or a place for a new
/// one. Pure. Nothing is created where anything says that a vault was here.
enum FirstLook: Sendable, Hashable {
    /// There is a vault: open it.
    case open
    /// There is nothing, and nothing ever was: make one.
    case create
    /// A creation was cut short: what it left is swept, then one is made.
    case createAnew
    /// A vault was destroyed here.
    case wiped
    /// The key store knows of a vault, and the folder has none: it was moved, deleted, or belongs to an earlier installation.
    /// Nil where what the key store knows cannot be read.
    case missing(LevelFloor?)
    /// The key store cannot be asked now, so nobody can tell whether a vault is missing.
    case unknown

    /// What lies in the folder.
    struct Folder: Sendable, Hashable {
        /// The header's file, whatever is in it.
        var hasHeader = false
        /// The marker of a creation, and no process holds it.
        var isUnfinished = false
        /// A receipt of a wipe.
        var hasReceipt = false
    }

    /// What the key store says of the profile.
    enum Floor: Sendable, Hashable {
        /// It was asked, and has nothing.
        case none
        /// It has this.
        case some(LevelFloor)
        /// It has something that is not understood, and waiting does not help.
        case unreadable
        /// It cannot be asked now.
        case unknown
    }

    init(_ folder: Folder, floor: Floor, noted: VaultID? = nil) {
        // A marker comes before the header and goes after it: with one there is no vault yet.
        if folder.isUnfinished {
            switch floor {
            case .unknown: self = .unknown
            case .unreadable: self = .missing(nil)
            // The floor is written after the header, and the marker goes after that: it is the same creation's.
            case .some(let floor) where floor.vault != noted: self = .missing(floor)
            case .some, .none: self = .createAnew
            }
            return
        }
        if folder.hasHeader {
            self = .open
            return
        }
        switch (folder.hasReceipt, floor) {
        case (true, _): self = .wiped
        case (false, .some(let floor)): self = .missing(floor)
        case (false, .unreadable): self = .missing(nil)
        case (false, .unknown): self = .unknown
        case (false, .none): self = .create
        }
    }
}
