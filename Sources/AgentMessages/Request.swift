package import VaultFormat

/// What a client asks of the agent. Parsed from bytes that anybody may have written; nothing in it is a secret: a secret
/// is the last field of its message and is named by where it lies.
package enum Request: Sendable, Hashable {
    /// Which agent is this? Carries the highest version that the client speaks.
    case hello(version: UInt8)
    /// Is it unlocked, and until when?
    case status
    /// Open the vault. `isRemembered` is what was asked for by another command, after which the vault may stay open only if its rules allow
    /// it. `idle` and `timeout` are seconds, and nil where the agent's own hold.
    case unlock(UnlockSecret, isRemembered: Bool = false, idle: UInt32?, timeout: UInt32?, secret: Range<Int>)
    /// Open a vault that opens without asking. Times as for an unlock.
    case open(idle: UInt32?, timeout: UInt32?)
    /// Drop the keys; the answer comes when they are gone.
    case lock
    /// Send a value piece by piece.
    case get(RecordPath)
    /// Store a value that comes in ``data(_:)`` messages, once the agent is ready for it.
    case put(RecordPath, replacing: Bool)
    /// Send what is known of the records of one collection, or of all.
    case list(collection: String?)
    /// Remove a record.
    case remove(RecordPath)
    /// Answer.
    case ping
    /// Drop the keys and end.
    case shutDown
    /// A piece of the value that is being stored.
    case data(Range<Int>)
    /// The value is complete.
    case end
    /// Begin a change of self-destruct: authenticates. `countdown` is seconds, and nil where the vault's rules hold.
    case beginChange(Change, countdown: UInt32?, secret: Range<Int>)
    /// The user was warned and confirmed: the countdown begins.
    case confirmChange
    /// The countdown is over: authenticates again and writes the change.
    case finishChange(secret: Range<Int>)
    /// Cancel the pending change, whichever client began it. Nothing is changed.
    case cancelChange
    /// What change is pending?
    case pendingChange

    /// What a change of self-destruct leads to.
    package enum Change: UInt8, Sendable, Hashable, CaseIterable {
        case enable = 1
        case disable = 2
    }
    /// Unlock the vault after the system has confirmed the device owner. Times as for an unlock.
    case confirm(OwnerStep, idle: UInt32?, timeout: UInt32?)
    /// An answer to the prompt of a confirmation.
    case answer(secret: Range<Int>)
    /// The user cancelled a confirmation.
    case cancel
    /// What is known of confirmations?
    case owner
    /// Do something with the identity in the vault.
    case identity(IdentityCall)

    /// Give a record another name or collection.
    case move(RecordPath, to: RecordPath)
    /// Store a copy of a record under another name or in another collection.
    case copy(RecordPath, to: RecordPath)
    /// Send what is known of the records that have all words of a query, of one collection or of all.
    case find(String, collection: String?)
    /// Send one value: of a field, or the main value where no label is named.
    case value(RecordPath, label: String?)
    /// Ask for, keep or forget a server's password: git's attributes, which are the end of the message.
    case credential(CredentialAction, collection: String, attributes: Range<Int>)

    /// Serve SSH programs from now on, and tell the socket's path.
    case serveSSH
    /// Be the Secret Service of the user's session from now on.
    case serveSecrets
    /// Store a private key as OpenSSH writes it, which is the end of the message, as an item.
    case importSSH(RecordPath, key: Range<Int>)

    /// What is done with a server's password.
    package enum CredentialAction: UInt8, Sendable, Hashable, CaseIterable {
        case get = 1
        case store = 2
        case erase = 3
    }

    /// Send an item, or a plain value as one.
    case item(RecordPath)
    /// Store an item that comes in ``data(_:)`` messages: a new one, or in place of the write with this number.
    case putItem(RecordPath, replacing: UInt64?)
    /// Move a record to the trash for so many seconds.
    case discard(RecordPath, seconds: UInt32)
    /// Send what is in the trash.
    case trash
    /// Put something back from the trash, where it was or elsewhere.
    case restore(TrashKey, RecordPath?)
    /// Remove one thing in the trash, or all of it, for good.
    case emptyTrash(TrashKey?)
    /// Send the tags that are in use.
    case tags
    /// Move, copy or remove all entries of a folder, or give records of before the place that they are written as; all or nothing.
    case folder(FolderCall)

    /// What the client says of itself; has no answer.
    case introduce(Introduction)
    /// Ask the user whether this client may use an item, or items with a tag, for so many seconds, or until the lock where nil.
    case lease(LeasedName, seconds: UInt32?)
    /// Send the leases.
    case leases
    /// End one lease, or all.
    case revoke(UInt64?)

    /// Send what waits in the inbox.
    case inbox
    /// Store an item of the inbox among the records; answered with its collection and name.
    case acceptInbox(Acceptance)
    /// Remove an item of the inbox.
    case rejectInbox(String)
    /// Prove the security log and send it.
    case securityLog
    /// Check everything that is stored.
    case verify

    /// Numbers of the messages; they do not change.
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        case hello = 1
        case status = 2
        case unlock = 3
        case lock = 4
        case get = 5
        case put = 6
        case list = 7
        case remove = 8
        case ping = 9
        case shutDown = 10
        case data = 11
        case end = 12
        case beginChange = 13
        case confirmChange = 14
        case finishChange = 15
        case cancelChange = 16
        case pendingChange = 17
        case confirm = 18
        case answer = 19
        case cancel = 20
        case owner = 21
        case identity = 22
        case move = 23
        case copy = 24
        case find = 25
        case item = 26
        case putItem = 27
        case discard = 28
        case trash = 29
        case restore = 30
        case emptyTrash = 31
        case value = 32
        case credential = 33
        case tags = 34
        case serveSSH = 40
        case importSSH = 41
        case introduce = 42
        case lease = 43
        case leases = 44
        case revoke = 45
        case inbox = 46
        case acceptInbox = 47
        case rejectInbox = 48
        case securityLog = 49
        case verify = 50
        case serveSecrets = 51
        case open = 52
        case folder = 53
    }

    /// Which message it is.
    package var kind: Kind {
        switch self {
        case .hello: .hello
        case .status: .status
        case .unlock: .unlock
        case .open: .open
        case .lock: .lock
        case .get: .get
        case .put: .put
        case .list: .list
        case .remove: .remove
        case .ping: .ping
        case .shutDown: .shutDown
        case .data: .data
        case .end: .end
        case .beginChange: .beginChange
        case .confirmChange: .confirmChange
        case .finishChange: .finishChange
        case .cancelChange: .cancelChange
        case .pendingChange: .pendingChange
        case .confirm: .confirm
        case .answer: .answer
        case .cancel: .cancel
        case .owner: .owner
        case .identity: .identity
        case .move: .move
        case .copy: .copy
        case .find: .find
        case .item: .item
        case .putItem: .putItem
        case .discard: .discard
        case .trash: .trash
        case .restore: .restore
        case .emptyTrash: .emptyTrash
        case .tags: .tags
        case .folder: .folder
        case .value: .value
        case .credential: .credential
        case .serveSSH: .serveSSH
        case .serveSecrets: .serveSecrets
        case .importSSH: .importSSH
        case .introduce: .introduce
        case .lease: .lease
        case .leases: .leases
        case .revoke: .revoke
        case .inbox: .inbox
        case .acceptInbox: .acceptInbox
        case .rejectInbox: .rejectInbox
        case .securityLog: .securityLog
        case .verify: .verify
        }
    }

    /// Bytes of a passcode or a phrase.
    package static let secretSizes = UnlockSecret.sizes
    /// Bytes of a query.
    package static let querySizes = 0...1024
    /// Bytes of a field's label.
    package static let labelSizes = 1...ItemLimits.label
    /// Bytes of a private key of SSH, as text.
    package static let keySizes = 1...16_384
    /// Bytes of git's attributes.
    package static let attributeSizes = 0...61_440
    /// Bytes of an answer to a prompt.
    package static let answerSizes = 0...1024
}

/// A record's name and its collection, with the sizes that the vault allows.
package struct RecordPath: Sendable, Hashable {
    /// Bytes of a collection's name.
    static let collectionSizes = 0...RecordName.maximumCollectionSize
    /// Bytes of a name.
    static let nameSizes = 1...RecordName.maximumNameSize

    /// The collection it is in.
    package let collection: String
    /// Its name there.
    package let name: String

    /// Nil when one of the two has a size that no record has.
    package init?(collection: String, name: String) {
        guard RecordPath.collectionSizes.contains(collection.utf8.count),
            RecordPath.nameSizes.contains(name.utf8.count)
        else { return nil }
        self.collection = collection
        self.name = name
    }

    /// By their bytes: texts that only look alike are different names.
    package static func == (left: RecordPath, right: RecordPath) -> Bool {
        left.collection.utf8.elementsEqual(right.collection.utf8) && left.name.utf8.elementsEqual(right.name.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in collection.utf8 { hasher.combine(byte) }
        for byte in name.utf8 { hasher.combine(byte) }
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        collection = try cursor.text(bytes, RecordPath.collectionSizes, "collection")
        name = try cursor.text(bytes, RecordPath.nameSizes, "name")
    }

    func write(_ writer: inout Writer) {
        writer.text(collection, atMost: RecordPath.collectionSizes.upperBound)
        writer.text(name, atMost: RecordPath.nameSizes.upperBound)
    }
}
