internal import AgentMessages
package import BetterAuth
internal import BetterAuthMessages
internal import CommandLineArguments
package import Holdfast

/// The identity in words and in JSON.
package enum IdentityWords {
    static let noAccount = IdentityError.noAccount

    static func identity(_ text: String) throws(CommandError) -> IdentityID {
        guard let identity = IdentityID(text) else {
            throw .usage("\(Escaping.sentence(text)) is not an identity (44 characters beginning with E)")
        }
        return identity
    }

    static func device(_ text: String) throws(CommandError) -> DeviceID {
        guard let device = DeviceID(text) else {
            throw .usage("\(Escaping.sentence(text)) is not a device (44 characters beginning with E)")
        }
        return device
    }

    /// Tells the user that they entered the vault's phrase instead of the identity's.
    package static func refuseVaultPhrase(_ phrase: borrowing IdentityPhrase, _ vault: Vault) throws(CommandError) {
        let isVaults = try identityCall {
            switch try phrase.asRecoveryPhrase() {
            case .none: false
            case .some(let phrase): vault.isVaultPhrase(phrase)
            }
        }
        guard isVaults else { return }
        throw CommandError(
            .refused, code: .wrongPhrase,
            "this is the recovery phrase of the vault; the identity has a different one, on its own sheet")
    }

    /// A request that the server may not have got: what is run again, when it can be reached.
    static func undecided(_ error: CommandError, again command: String) -> CommandError {
        let kinds: [IdentityError.Code.Kind] = [.unreachable, .notTheServer, .invalidReply, .undecided]
        guard let kind = error.code.identity.kind, kinds.contains(kind) else { return error }
        var error = error
        error.advice = "check the address and the network, then run \(command) again"
        return error
    }

    static func facts(_ report: IdentityReport) -> [(String, String)] {
        var facts = [("State:", words(report.state))]
        if let identity = report.identity { facts.append(("Identity:", identity)) }
        if let device = report.device { facts.append(("Device:", device)) }
        if let isInChip = report.isInChip {
            facts.append(
                ("Keys:", isInChip ? "in the TPM; another machine cannot use them" : "in the vault"))
        }
        if report.isRotationDue {
            facts.append(("", "older than the vault's keys; holdfast identity session open renews them"))
        }
        if let server = report.server { facts.append(("Server:", server)) }
        if let chain = report.keyChain { facts.append(("Key chain:", chain)) }
        for first in report.firstKeys { facts.append(("Key of \(first.server):", first.key)) }
        if let expiry = report.sessionExpiry {
            facts.append(("Session until:", Format.localTime(milliseconds: expiry)))
        }
        if let expiry = report.refreshExpiry {
            facts.append(("Refresh until:", Format.localTime(milliseconds: expiry)))
        }
        if let words = report.unfinished { facts.append(("Unfinished:", words + ", perhaps")) }
        if let due = report.drillDue {
            let words =
                report.isDrillDue ? "due (holdfast identity drill)" : "due " + Format.localTime(milliseconds: due)
            facts.append(("Recovery drill:", words))
        }
        return facts
    }

    private static func words(_ state: String) -> String {
        switch IdentityState(rawValue: state) {
        case .ready: "ready: no identity on this device"
        case .unconfirmed: "unconfirmed: the server has not responded yet"
        case .linking: "linking: waiting for another device to accept"
        case .created: "created: no session"
        case .authenticated: "authenticated: a session is open"
        case nil: Escaping.sentence(state)
        }
    }

    static func json(_ report: IdentityReport) -> JSON {
        func text(_ value: String?) -> JSON { value.map { .text($0) } ?? .null }
        func time(_ milliseconds: Int64?) -> JSON {
            milliseconds.map { .text(Timestamp(clamping: $0).description) } ?? .null
        }
        return .object([
            "state": .text(report.state), "identity": text(report.identity), "device": text(report.device),
            "server": text(report.server), "publicKey": text(report.publicKey),
            "keys": text(report.isInChip.map { $0 ? "tpm" : "vault" }), "keyChain": text(report.keyChain),
            "responseKeys": .object(Dictionary(report.firstKeys.map { ($0.server, .text($0.key)) }) { $1 }),
            "sessionExpiry": time(report.sessionExpiry), "refreshExpiry": time(report.refreshExpiry),
            "isUnfinished": .boolean(report.isUnfinished), "isRotationDue": .boolean(report.isRotationDue),
            "drillDue": time(report.drillDue), "isDrillDue": .boolean(report.isDrillDue),
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
