package import SecretMemory

/// What a key store refuses or could not do. One struct with an open set of codes, so that codes can be added.
package struct KeyStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for programs.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        /// Every code.
        package enum Kind: String, Sendable, Hashable, CaseIterable {
            case unavailable = "unavailable", busy = "busy", lockedOut = "lockedOut", unanswered = "unanswered"
            case wrongSecret = "wrongSecret", foreign = "foreign"
            case notFound = "notFound", unsupported = "unsupported", ownedByAnother = "ownedByAnother"
            case damaged = "damaged", hardLinked = "hardLinked", cancelled = "cancelled", outOfMemory = "outOfMemory"
            case failure = "failure", unexpected = "unexpected"
        }

        /// The code as one of a closed set, for a table that the compiler checks.
        package let kind: Kind
        private init(_ kind: Kind) { self.kind = kind }

        /// A stable word.
        package var description: String { kind.rawValue }

        /// There is no such chip or service here, or this user may not use it.
        package static let unavailable = Code(.unavailable)
        /// It is there and did not answer in time, or another holds it.
        package static let busy = Code(.busy)
        /// Its own protection against guessing is in force; nothing was checked.
        package static let lockedOut = Code(.lockedOut)
        /// It was asked, and the answer was lost: what was asked for may have been counted.
        package static let unanswered = Code(.unanswered)
        /// The secret that was given is wrong.
        package static let wrongSecret = Code(.wrongSecret)
        /// It was stored in another chip, or in this one before it was cleared.
        package static let foreign = Code(.foreign)
        /// Nothing is stored under this name.
        package static let notFound = Code(.notFound)
        /// The chip lacks something that is needed.
        package static let unsupported = Code(.unsupported)
        /// An unknown authorisation is set.
        package static let ownedByAnother = Code(.ownedByAnother)
        /// What we keep to find it again is not what was written.
        package static let damaged = Code(.damaged)
        /// The file that it is kept in has a second name, a hard link.
        package static let hardLinked = Code(.hardLinked)
        /// The user cancelled the system's prompt.
        package static let cancelled = Code(.cancelled)
        /// Not enough memory, locked or ordinary.
        package static let outOfMemory = Code(.outOfMemory)
        /// It failed in another way; the reason has its own words.
        package static let failure = Code(.failure)
        /// Something failed that has no code; the reason names what kind of error it was.
        package static let unexpected = Code(.unexpected)
    }

    /// The kind of failure.
    package let code: Code
    /// What happened, in plain words. Never a secret.
    package let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Memory for a secret could not be had.
    package init(_ error: SecretMemoryError) {
        switch error {
        case .lockedMemoryExhausted, .derivationOutOfMemory: self.init(.outOfMemory, "\(error)")
        case .libraryUnavailable: self.init(.failure, "\(error)")
        case .invalidSize: self.init(.unexpected, "\(error)")
        }
    }

    /// The reason.
    package var description: String { reason }
}
