package import BetterAuthMessages

/// Why a key chain, or its word for a server's key, is not believed.
package enum KeyChainError: Error, Sendable, Hashable {
    /// The list has no chain that begins with the identity that the program was given.
    case unknownChain
    /// The chain is broken at the event of this number.
    case broken(sequenceNumber: UInt64, Flaw)
    /// The endorsement names another chain.
    case otherChain
    /// The endorsement was signed by a generation that is not there, has expired, or was tainted by its successor.
    case invalidGeneration(DigestText)
    /// The endorsement's signature is not that of its generation.
    case wrongSignature
    /// The endorsement is about another key than the one that was asked for.
    case otherKey
    /// The endorsement allows the key to be used for something else.
    case wrongPurpose
    /// The endorsement is over.
    case expired(Timestamp)
    /// Too many unknown keys were asked for in a short time.
    case tooManyLookups

    /// What is wrong with an event.
    package enum Flaw: String, Sendable, Hashable, CaseIterable {
        /// A number is missing or stands there twice.
        case sequence = "sequence"
        /// It was made for something else than endorsing keys.
        case purpose = "purpose"
        /// Its name is not the digest of its text.
        case id = "id"
        /// It does not name the event before it.
        case previous = "previous"
        /// Its key is not the one that the event before had committed to.
        case commitment = "commitment"
        /// It is not later than the event before, or lies in the future.
        case time = "time"
        /// It was not signed by its own key.
        case signature = "signature"
    }
}

extension KeyChainError: CustomStringConvertible {
    /// For people.
    package var description: String {
        switch self {
        case .unknownChain: "the key service does not publish the chain that was named"
        case .broken(let number, let flaw): "the key chain is broken at its event \(number): \(flaw.words)"
        case .otherChain: "another chain endorses it"
        case .invalidGeneration: "the chain's generation that endorses it has expired or was withdrawn"
        case .wrongSignature: "its endorsement is not signed by the chain"
        case .otherKey: "the key service answered for another key"
        case .wrongPurpose: "it is endorsed for something else"
        case .expired(let end): "its endorsement ended at \(end)"
        case .tooManyLookups: "too many unknown keys were asked for; try again in a moment"
        }
    }
}

extension KeyChainError.Flaw {
    fileprivate var words: String {
        switch self {
        case .sequence: "a number is missing or stands there twice"
        case .purpose: "it was made for something else"
        case .id: "its name is not the digest of its text"
        case .previous: "it does not name the event before it"
        case .commitment: "its key is not the one that was announced"
        case .time: "its time is not between the event before it and now"
        case .signature: "it is not signed by its own key"
        }
    }
}
