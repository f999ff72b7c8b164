package import VaultFormat

/// About programs that use the vault: git, SSH, and those of the session's Secret Service.
package enum ProgramRequest: RequestArea {
    /// Ask for, keep or forget a server's password: git's attributes, which are the end of the message.
    case credential(CredentialAction, collection: String, attributes: Range<Int>)
    /// Serve SSH programs from now on, and tell the socket's path.
    case serveSSH
    /// Be the Secret Service of the user's session from now on.
    case serveSecrets
    /// Be it no longer.
    case stopSecrets
    /// Store a private key as its file has it, which is the end of the message, as an item. A certificate may be behind
    /// it.
    case importSSH(RecordName, key: Range<Int>)
    /// Take a tag that lets git have logins from all entries, also in the trash. Nothing of them is given away, so
    /// nobody is asked.
    case disallow(tag: String)

    /// What is done with a server's password.
    package enum CredentialAction: UInt8, Sendable, Hashable {
        case get = 1
        case store = 2
        case erase = 3
    }

    /// Bytes of a private key of SSH, as text.
    package static let keySizes = 1...16_384
    /// Bytes of git's attributes.
    private static let attributeSizes = 0...61_440
    private static let tagSizes = 1...64

    package enum Kind: UInt8, CaseIterable {
        case credential = 33, serveSSH = 40, importSSH = 41, serveSecrets = 51, stopSecrets = 61, disallow = 62
    }

    init(_ kind: Kind, _ cursor: inout Cursor, _ body: RawSpan) throws(MessageError) {
        switch kind {
        case .credential:
            guard let action = CredentialAction(rawValue: try cursor.integer(body, UInt8.self)) else {
                throw .invalid(field: "action")
            }
            let collection = try cursor.text(body, RecordName.collectionSizes, "collection")
            self = .credential(
                action, collection: collection,
                attributes: try cursor.rest(ProgramRequest.attributeSizes, "attributes"))
        case .serveSSH: self = .serveSSH
        case .serveSecrets: self = .serveSecrets
        case .stopSecrets: self = .stopSecrets
        case .importSSH:
            let path = try RecordName(&cursor, body)
            self = .importSSH(path, key: try cursor.rest(ProgramRequest.keySizes, "key"))
        case .disallow: self = .disallow(tag: try cursor.text(body, ProgramRequest.tagSizes, "tag"))
        }
    }

    func write(_ writer: inout Writer) -> Kind {
        switch self {
        case .credential(let action, let collection, _):
            writer.integer(action.rawValue)
            writer.text(collection, atMost: RecordName.collectionSizes.upperBound)
            return .credential
        case .serveSSH: return .serveSSH
        case .serveSecrets: return .serveSecrets
        case .stopSecrets: return .stopSecrets
        case .importSSH(let path, _):
            path.write(&writer)
            return .importSSH
        case .disallow(let tag):
            writer.text(tag, atMost: ProgramRequest.tagSizes.upperBound)
            return .disallow
        }
    }

    var request: Request { .programs(self) }
}
