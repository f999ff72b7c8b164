/// What a way can do on this machine now, found without asking anybody.
public enum OwnerCapability: Sendable, Hashable {
    /// The owner can be asked.
    case available
    /// There, but nothing is set up for it.
    case notEnrolled(String)
    /// Is locked out.
    case lockedOut(String)
    /// Something else uses it.
    case busy(String)
    /// There, and the user has not allowed this app to use it.
    case denied(String)
    /// Not there, or not reachable.
    case missing(String)
    /// There, and it does not do what it should.
    case broken(String)

    /// Why it cannot be asked; nil where it can.
    package var why: String? {
        switch self {
        case .available: nil
        case .notEnrolled(let why), .lockedOut(let why), .busy(let why), .denied(let why), .missing(let why),
            .broken(let why):
            why
        }
    }
}

/// What has to be the same for a match to mean what it meant when the passcode was given: which fingers of which sensor
/// are known. No secret.
package struct OwnerEnrollment: Sendable, Hashable {
    /// One line for each enrolled finger, sorted.
    package let lines: [String]

    package init(_ lines: [String]) { self.lines = lines.sorted() }

    /// For a digest.
    package var bytes: [UInt8] { lines.flatMap { Array($0.utf8) + [10] } }
}
