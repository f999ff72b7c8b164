internal import BetterAuth
internal import BetterAuthMessages
internal import Holdfast

/// The identity in words and in JSON.
enum IdentityWords {
    static let noAccount = IdentityError(
        .noAccount, "this device has no identity; create, recover or link one (holdfast identity --help)")

    static func identity(_ text: String) throws(CommandError) -> IdentityID {
        guard let identity = IdentityID(text) else {
            throw .usage("\(Escaping.sentence(text)) is no identity: 44 characters that begin with E")
        }
        return identity
    }

    static func device(_ text: String) throws(CommandError) -> DeviceID {
        guard let device = DeviceID(text) else {
            throw .usage("\(Escaping.sentence(text)) is no device: 44 characters that begin with E")
        }
        return device
    }

    /// Tells the owner that he typed the other one of his two phrases.
    static func refuseVaultPhrase(_ phrase: borrowing IdentityPhrase, _ vault: Vault) throws(CommandError) {
        let isVaults = try identityCall {
            switch try phrase.asRecoveryPhrase() {
            case .none: false
            case .some(let phrase): vault.isVaultPhrase(phrase)
            }
        }
        guard isVaults else { return }
        throw CommandError(
            .refused, code: "wrongPhrase",
            "this is the recovery phrase of the vault; the identity has another one, on its own sheet")
    }

    static func facts(_ credentials: Credentials) -> [(String, String)] {
        var facts = [("State:", words(credentials.state))]
        if let account = credentials.account ?? credentials.staged?.account {
            facts.append(("Identity:", account.identity.description))
            facts.append(("Device:", account.device.description))
            facts.append(("Keys:", words(account.current.place)))
        }
        if let server = credentials.server { facts.append(("Server:", server)) }
        if let chain = credentials.keyChain { facts.append(("Key chain:", chain.identity.description)) }
        for first in credentials.firstKeys { facts.append(("Key of \(first.server):", first.key.description)) }
        if let session = credentials.session {
            facts.append(("Session until:", Format.localTime(milliseconds: session.expiry.milliseconds)))
            facts.append(("Refresh until:", Format.localTime(milliseconds: session.refreshExpiry.milliseconds)))
        }
        if let pending = credentials.pending?.requests.last {
            facts.append(("Unfinished:", pending.effect.words + ", perhaps"))
        }
        if let due = credentials.drills.due {
            let isDue = credentials.drills.isDue(WallClock.now)
            facts.append(
                (
                    "Recovery drill:",
                    isDue ? "due (holdfast identity drill)" : "due " + Format.localTime(milliseconds: due.milliseconds)
                ))
        }
        return facts
    }

    private static func words(_ state: Credentials.State) -> String {
        switch state {
        case .ready: "ready: no identity on this device"
        case .unconfirmed: "unconfirmed: the server has not answered yet"
        case .linking: "linking: waits for another device to accept"
        case .created: "created: no session"
        case .authenticated: "authenticated: a session is open"
        }
    }

    private static func words(_ place: KeyRecord.Place) -> String {
        switch place {
        case .here: "in the vault"
        case .chip: "in the TPM, hardware-bound; another machine cannot use them"
        }
    }

    static func json(_ credentials: Credentials) -> JSON {
        let account = credentials.account ?? credentials.staged?.account
        func text(_ value: (some CustomStringConvertible)?) -> JSON { value.map { .text($0.description) } ?? .null }
        return .object([
            "state": .text(credentials.state.rawValue), "identity": text(account?.identity),
            "device": text(account?.device), "server": text(credentials.server),
            "publicKey": text(credentials.account?.current.publicKey),
            "keys": text(account.map { $0.current.place == .chip ? "tpm" : "vault" }),
            "keyChain": text(credentials.keyChain?.identity),
            "responseKeys": .object(
                Dictionary(credentials.firstKeys.map { ($0.server, .text($0.key.description)) }) { $1 }),
            "sessionExpiry": text(credentials.session?.expiry),
            "refreshExpiry": text(credentials.session?.refreshExpiry),
            "isUnfinished": .boolean(credentials.pending != nil || credentials.staged != nil),
            "drillDue": text(credentials.drills.due),
            "isDrillDue": .boolean(credentials.drills.isDue(WallClock.now)),
        ])
    }

    /// Text, and a QR code of it where that was asked for.
    static func show(_ text: String, _ arguments: Arguments) throws(CommandError) {
        try Output.write(text + "\n")
        guard arguments[Options.qr] else { return }
        guard let code = QRCode.text(of: text) else {
            Output.note("no QR code: libqrencode is not installed, or the text is too long")
            return
        }
        try Output.write(code)
    }
}
