import GtkKit
import HoldfastUI

/// The identity in the user's words.
enum IdentityText {
    static func of(_ state: IdentityFacts.State) -> String {
        switch state {
        case .ready: tr("Ready: this device has no identity.")
        case .unconfirmed: tr("No server has confirmed the identity yet.")
        case .linking: tr("Waiting for your other device.")
        case .created: tr("Created: there is no session.")
        case .authenticated: tr("Authenticated: a session is open.")
        }
    }

    static func doing(_ action: IdentityAction) -> String {
        switch action {
        case .create: tr("Creating the identity…")
        case .recover: tr("Recovering the identity…")
        case .makeContainer: tr("Making keys…")
        case .drill: tr("Comparing the words…")
        default: tr("Asking the server…")
        }
    }

    static func done(_ action: IdentityAction) -> String {
        switch action {
        case .create: tr("The identity was created")
        case .recover: tr("The identity was recovered; all other devices were removed")
        case .makeContainer: tr("Show the container to your other device")
        case .link: tr("The device was linked")
        case .unlink: tr("The device was removed")
        case .rotate: tr("This device has a new key")
        case .openSession: tr("A session is open")
        case .refreshSession: tr("The session was refreshed")
        case .endSession: tr("The session is over")
        case .request: tr("Answered, and the signature is valid")
        case .settle: tr("Nothing is unlocked")
        case .changeRecovery: tr("The new phrase is now in effect. Destroy the sheet with the old one.")
        case .drill: tr("You still have the words")
        case .delete: tr("The account was deleted")
        case .erase: tr("The identity was forgotten here")
        }
    }

    static func of(_ problem: IdentityProblem) -> String {
        switch problem {
        case .noAccount: tr("This device has no identity.")
        case .accountExists: tr("This device already has an identity.")
        case .noSession: tr("There is no session. Open one first.")
        case .refused: tr("The server refused.")
        case .unreachable: tr("The server cannot be reached.")
        case .untrusted: tr("The answer is not signed by a known key of the server. It was ignored.")
        case .undecided: tr("It is not known yet whether the server did it. Find out first.")
        case .invalidContainer: tr("That is not a link container of this identity.")
        case .invalidIdentity: tr("That is not an identity: 44 characters that begin with E.")
        case .invalidDevice: tr("That is not a device: 44 characters that begin with E.")
        case .invalidRequest: tr("The path or the JSON is not valid.")
        case .wrongPhrase: tr("These are not the words of this identity.")
        case .drillFailed:
            tr("That does not match the identity's sheet. Find the right sheet, or replace the phrase now.")
        case .vaultPhrase: tr("These are the vault's words. The identity has different ones, on their own sheet.")
        case .invalidAddress:
            tr("An address looks like https://example.org. Plain http is allowed to this machine only.")
        case .locked: tr("The vault is locked.")
        case .busy: tr("Another program is using the identity. Try again.")
        case .proof(let problem): ProblemText.of(problem)
        case .proofExpired: tr("More than a minute has passed since you entered the passcode. Try again.")
        case .otherServer: tr("This identity belongs to another server. Nothing was sent.")
        case .keyUnavailable: tr("The chip that has this identity's keys does not answer. Open the Doctor page.")
        case .keysLost: tr("This device's keys cannot be used any more. Recover the identity with its recovery phrase.")
        case .damaged: tr("What is stored of the identity is damaged. Restore a backup, or recover the identity.")
        case .newerVersion: tr("A newer Holdfast stored this identity. Use that one.")
        case .outOfMemory: ProblemText.of(VaultProblem.outOfMemory)
        case .other(let reason): reason
        }
    }

    /// A key that nobody vouched for, with what to do about it: said for as long as it is so.
    static func firstKey(_ key: String) -> String {
        key + "\n"
            + tr("Trusted because it is the first one seen. Compare it with what the server's operator publishes.")
    }

    /// When the owner is asked again for some of the words.
    static func of(_ drill: IdentityFacts.Drill) -> String {
        if drill.isDue { return tr("It is time to check the sheet with the recovery phrase") }
        return drill.due.map { tr("Next check on %s", Format.time(milliseconds: $0)) } ?? ""
    }

    /// What a drill asks for.
    static func question(_ drill: IdentityFacts.Drill) -> String {
        guard !drill.positions.isEmpty else { return tr("All the words of the identity's sheet. Nothing is sent.") }
        return tr(
            "Words %s of the identity's sheet, in this order. Nothing is sent.",
            drill.positions.map { String($0) }.joined(separator: ", "))
    }

    /// What became known on the way; nil where the page says it all the time.
    static func of(_ news: IdentityNews) -> String? {
        switch news {
        case .trustedFirstKey: nil
        case .settled: tr("An earlier change took effect")
        case .abandoned: tr("The server refused an earlier change; it will not happen")
        }
    }
}
