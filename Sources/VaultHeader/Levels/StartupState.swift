package import VaultFormat

/// What an app that is started finds in its folder and its key store: whether there is a vault to open, or a place for
/// a new one. Pure. Nothing is created where anything says that a vault was here.
package enum StartupState: Sendable, Hashable {
    /// There is a vault: open it.
    case open
    /// There is nothing, and nothing ever was: make one.
    case create
    /// A creation was cut short before it had a header: what it left is swept, then one is made.
    case createAnew
    /// A vault was destroyed here.
    case wiped
    /// The key store knows of a vault, and the folder has none: it was moved, deleted, or belongs to an earlier
    /// installation. Nil where what the key store knows cannot be read.
    case missing(LevelFloor?)
    /// The key store cannot be asked now, so nobody can tell whether a vault is missing.
    case unknown

    /// What lies in the folder.
    package struct Folder: Sendable, Hashable {
        /// The header's file, whatever is in it.
        package var hasHeader = false
        /// The marker of a creation.
        package var isUnfinished = false
        /// A receipt of a wipe.
        package var hasReceipt = false

        package init(hasHeader: Bool = false, isUnfinished: Bool = false, hasReceipt: Bool = false) {
            self.hasHeader = hasHeader
            self.isUnfinished = isUnfinished
            self.hasReceipt = hasReceipt
        }
    }

    /// What the key store says of the profile.
    package enum Floor: Sendable, Hashable {
        /// It was asked, and has nothing.
        case none
        /// It has this.
        case some(LevelFloor)
        /// It has something that is not understood, and waiting does not help.
        case unreadable
        /// It cannot be asked now.
        case unknown
    }

    package init(_ folder: Folder, floor: Floor) {
        // Whatever else lies there: a marker can be laid beside a vault by anyone who can write the folder.
        if folder.hasHeader {
            self = .open
            return
        }
        if folder.hasReceipt && !folder.isUnfinished {
            self = .wiped
            return
        }
        switch floor {
        // The floor is written once the header is there: with one, this is a vault whose header is gone.
        case .some(let floor): self = .missing(floor)
        case .unreadable: self = .missing(nil)
        case .unknown: self = .unknown
        case .none: self = folder.isUnfinished ? .createAnew : .create
        }
    }
}
