/// What an agent does for its clients with the identity in its vault. It does it itself: no key leaves it, and nothing
/// signed but what its server and the app servers that are named get. Operations that could permanently take the
/// identity away are not included.
package struct IdentityCall: RequestArea {
    /// What is to be done.
    package enum Action: Sendable, Hashable {
        /// Tell what is known.
        case status
        /// Open a session.
        case openSession
        /// Continue with its next key.
        case refreshSession
        /// Forget it.
        case endSession
        /// Bring the device's next key into use.
        case rotate
        /// Ask an app server for something: JSON, which is the end of the message.
        case request(AppRequest, json: Range<Int>)
    }

    /// Where a request goes.
    package struct AppRequest: Sendable, Hashable {
        /// As `/foo/bar`.
        package let path: String
        /// The app server's address; nil for the identity's own server.
        package let target: String?
        /// The public key that signs the app server's answers; nil for as the identity's own server.
        package let key: String?

        package init(path: String, target: String? = nil, key: String? = nil) {
            self.path = path
            self.target = target
            self.key = key
        }
    }

    /// What is to be done.
    package let action: Action
    /// Whether the servers' addresses may be http to another machine.
    package let allowsPlain: Bool

    package init(_ action: Action, allowsPlain: Bool = false) {
        self.action = action
        self.allowsPlain = allowsPlain
    }

    private static let pathSizes = 1...2048
    private static let addressSizes = 1...1024
    private static let keySizes = 1...64

    /// Numbers of the actions; they do not change.
    private var actionNumber: UInt8 {
        switch action {
        case .status: 1
        case .openSession: 2
        case .refreshSession: 3
        case .endSession: 4
        case .rotate: 5
        case .request: 6
        }
    }

    package enum Kind: UInt8, CaseIterable {
        case identity = 22
    }

    init(_ kind: Kind, _ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        let number = try cursor.integer(bytes, UInt8.self)
        allowsPlain = try cursor.flag(bytes, "flags")
        switch number {
        case 1: action = .status
        case 2: action = .openSession
        case 3: action = .refreshSession
        case 4: action = .endSession
        case 5: action = .rotate
        case 6:
            let path = try cursor.text(bytes, IdentityCall.pathSizes, "path")
            let target = try cursor.optionalText(bytes, IdentityCall.addressSizes, "address")
            let key = try cursor.optionalText(bytes, IdentityCall.keySizes, "key")
            action = .request(
                AppRequest(path: path, target: target, key: key), json: try cursor.rest(1...Frame.longestBody, "JSON"))
        default: throw .invalid(field: "action")
        }
    }

    func write(_ writer: inout Writer) -> Kind {
        writer.integer(actionNumber)
        writer.flag(allowsPlain)
        guard case .request(let request, _) = action else { return .identity }
        writer.text(request.path, atMost: IdentityCall.pathSizes.upperBound)
        writer.optionalText(request.target, atMost: IdentityCall.addressSizes.upperBound)
        writer.optionalText(request.key, atMost: IdentityCall.keySizes.upperBound)
        return .identity
    }

    var request: Request { .identity(self) }
}

/// What is known of an identity, without anything secret: for people and for programs.
package struct IdentityReport: Sendable, Hashable {
    /// How far it is: the word of the state.
    package var state: String
    /// The account and this device in it, as text.
    package var identity: String?
    package var device: String?
    /// The public half of the device's present key.
    package var publicKey: String?
    /// Whether the device's keys are in a chip; nil without an account.
    package var isInChip: Bool?
    /// The server's address.
    package var server: String?
    /// The id of the key chain that vouches for response keys.
    package var keyChain: String?
    /// The response keys that were the first ones seen, by server.
    package var firstKeys: [FirstKey]
    /// Milliseconds since 1970: the last moments for requests and for a refresh, and when the next recovery drill is
    /// due.
    package var sessionExpiry: Int64?
    package var refreshExpiry: Int64?
    package var drillDue: Int64?
    /// Whether that moment has come.
    package var isDrillDue: Bool
    /// Whether something was sent and not answered.
    package var isUnfinished: Bool
    /// What that was, in words.
    package var unfinished: String?
    /// Whether the device's keys were made before the vault got its present ones.
    package var isRotationDue: Bool

    /// A response key.
    package struct FirstKey: Sendable, Hashable {
        package let server: String
        package let key: String

        package init(server: String, key: String) {
            self.server = server
            self.key = key
        }
    }

    package init(state: String) {
        self.state = state
        firstKeys = []
        isDrillDue = false
        isUnfinished = false
        isRotationDue = false
    }

    private static let wordSizes = 1...64
    private static let addressSizes = 0...1024

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        state = try cursor.text(bytes, IdentityReport.wordSizes, "state")
        identity = try cursor.optionalText(bytes, IdentityReport.wordSizes, "identity")
        device = try cursor.optionalText(bytes, IdentityReport.wordSizes, "device")
        publicKey = try cursor.optionalText(bytes, IdentityReport.wordSizes, "key")
        isInChip = try cursor.flag(bytes, "flags") ? try cursor.flag(bytes, "flags") : nil
        server = try cursor.optionalText(bytes, IdentityReport.addressSizes, "address")
        keyChain = try cursor.optionalText(bytes, IdentityReport.wordSizes, "key chain")
        firstKeys = []
        for _ in 0..<(try cursor.integer(bytes, UInt8.self)) {
            let server = try cursor.text(bytes, IdentityReport.addressSizes, "address")
            firstKeys.append(FirstKey(server: server, key: try cursor.text(bytes, IdentityReport.wordSizes, "key")))
        }
        sessionExpiry = try cursor.optional(bytes, UInt64.self, "time").map { Int64(bitPattern: $0) }
        refreshExpiry = try cursor.optional(bytes, UInt64.self, "time").map { Int64(bitPattern: $0) }
        drillDue = try cursor.optional(bytes, UInt64.self, "time").map { Int64(bitPattern: $0) }
        isDrillDue = try cursor.flag(bytes, "flags")
        isUnfinished = try cursor.flag(bytes, "flags")
        unfinished = try cursor.optionalText(bytes, IdentityReport.addressSizes, "words")
        isRotationDue = try cursor.flag(bytes, "flags")
    }

    func write(_ writer: inout Writer) {
        let (word, address) = (IdentityReport.wordSizes.upperBound, IdentityReport.addressSizes.upperBound)
        writer.text(state, atMost: word)
        for text in [identity, device, publicKey] { writer.optionalText(text, atMost: word) }
        writer.flag(isInChip != nil)
        if let isInChip { writer.flag(isInChip) }
        writer.optionalText(server, atMost: address)
        writer.optionalText(keyChain, atMost: word)
        // As many as a message has room for; a record may name more than anybody has servers.
        let shown = firstKeys.prefix(48)
        writer.integer(UInt8(shown.count))
        for first in shown {
            writer.text(first.server, atMost: address)
            writer.text(first.key, atMost: word)
        }
        for time in [sessionExpiry, refreshExpiry, drillDue] { writer.optional(time.map { UInt64(bitPattern: $0) }) }
        writer.flag(isDrillDue)
        writer.flag(isUnfinished)
        writer.optionalText(unfinished, atMost: address)
        writer.flag(isRotationDue)
    }
}
