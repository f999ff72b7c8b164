internal import Holdfast

/// Every option there is, each once; commands name the ones they take.
enum Options {
    static let help = Flag("help", "Show this help.")
    static let version = Flag("version", "Print the version.")
    static let json = Flag("json", "Report as one JSON object, errors too.")
    static let replace = Flag("replace", "Replace what is stored under this name.")
    static let clean = Flag(
        "clean", "When all is intact, also finish an interrupted --rekey and remove files that no record names.")
    static let rekey = Flag(
        "rekey", "Give the vault new keys as well, so that an old copy's passcode opens nothing new.")
    static let open = Flag("open", "In the open compartment, which is reached without the passcode.")
    static let writeOnly = Flag("write-only", "With --open: seal it, so that only the unlocked vault reads it.")
    static let yes = Flag("yes", "Do not ask whether this is really wanted.")
    static let insist = Flag("insist", "Do it although a loss may then be the loss of everything in the vault.")
    static let claimHardware = Flag(
        "claim-hardware", "This folder is the vault itself: what the TPM and the keyring hold is its own.")
    static let leaveHardware = Flag(
        "leave-hardware", "This folder is a copy: leave what the TPM and the keyring hold to the vault.")
    static let dryRun = Flag("dry-run", "Only tell what would be erased.")
    static let phrase = Flag("phrase", "Use the recovery phrase and ask for it on the terminal.")

    static let passcode = Flag("passcode", "Ask for the passcode, whatever else the rules would take.")
    static let keep = Flag("keep", "Keep the way in on the disk, so that it survives restarts.")
    static let deep = Flag("deep", "Also make what is there work, and take it back.")
    static let systemBus = TextOption(
        "system-bus", "ADDRESS", help: "Look at the D-Bus at ADDRESS in place of the machine's own.")
    static let pamFolder = TextOption(
        "pam-folder", "DIR", .folder, help: "Look for PAM's rules in DIR in place of the system's folders.")

    static let shutDown = Flag("shut-down", "Also end the agent.")
    static let report = Flag("report", "Tell the program that started this one how it went.")

    static let idle = SecondsOption(
        "idle", 1...604_800, help: "Lock after so many seconds without use (default: 15 minutes).")
    static let timeout = SecondsOption(
        "timeout", 1...604_800, help: "Lock after so many seconds in any case (default: 12 hours).")

    static let home = TextOption("home", "DIR", .folder, help: "The folder of the vault.")
    static let collection = TextOption(
        "collection", "C", help: "The collection; \"\(defaultCollection)\" when not given.")
    static let asName = TextOption("as", "NAME", help: "Under this name; else as it was written.")
    static let acceptedCollection = TextOption(
        "collection", "C", help: "Into this collection; else the one it was written for.")
    static let onlyCollection = TextOption("collection", "C", help: "Only this collection.")

    static let last = TextOption("last", "N", .number, help: "Only the newest N entries.")
    static let receipt = TextOption("receipt", "FILE", .file, help: "Also write the receipt to this new file.")
    static let receiptKey = TextOption(
        "key", "PUBLIC", help: "The public key that was shown when self-destruct was switched on.")
    static let countdown = SecondsOption(
        "countdown", 30...86_400, help: "Wait this long instead of 30 seconds; never less than the vault's rules say.")

    static let passcodeDescriptor = DescriptorOption(
        "passcode-fd", "Read the passcode from file descriptor N, one line.")
    static let passcodesDescriptor = DescriptorOption(
        "passcode-fd", "Read the passcode and then the new one from file descriptor N, one line each.")
    static let twoPasscodesDescriptor = DescriptorOption(
        "passcode-fd", "Read the passcode from file descriptor N twice: a line for the start, a line for the end.")
    static let newPasscodeDescriptor = DescriptorOption(
        "passcode-fd", "Read the new passcode from file descriptor N, one line.")
    static let pinDescriptor = DescriptorOption("pin-fd", "Use the PIN and read it from file descriptor N, one line.")
    static let newPINDescriptor = DescriptorOption("pin-fd", "Read the new PIN from file descriptor N, one line.")
    static let phraseDescriptor = DescriptorOption(
        "phrase-fd", "Use the recovery phrase and read it from file descriptor N, one line.")
    static let phraseOutDescriptor = DescriptorOption(
        "phrase-out-fd", "Write the recovery phrase to file descriptor N instead of the terminal.")

    static let keyOutDescriptor = DescriptorOption(
        "key-out-fd", "Also write the log's key to file descriptor N, for a verifier without the vault.")

    static let server = TextOption(
        "server", "URL", help: "The identity's server; remembered, so it is given once.")
    static let plainHTTP = Flag(
        "plain-http", "Allow http to another machine: whoever listens learns who you are and when.")
    static let authority = TextOption(
        "authority", "KEY",
        help:
            "Whom to trust, remembered: the key that signs the server's answers, or the key chain that vouches for it. "
            + "Else the first key that the server names is trusted.")
    static let newResponseKey = Flag(
        "new-response-key", "The server has changed its key: trust the one that it names now.")
    static let keyService = TextOption(
        "key-service", "URL", help: "Where the key chain of --authority is published; the server when not given.")
    static let keys = TextOption(
        "keys", "PLACE", .word(["tpm", "vault"]),
        help:
            "Where the keys of this device are made: in the TPM, which is the rule where there is one, or in the vault."
    )
    static let recoveryDescriptor = DescriptorOption(
        "recovery-fd", "Read the identity's recovery phrase from file descriptor N, one line.")
    static let recoveryOutDescriptor = DescriptorOption(
        "recovery-out-fd", "Write the identity's new recovery phrase to file descriptor N instead of the terminal.")
    static let qr = Flag("qr", "Also draw it as a QR code.")
    static let at = TextOption("at", "URL", help: "The app server; the identity's own server when not given.")
    static let appKey = TextOption("app-key", "KEY", help: "The key that signs the app server's answers.")
    static let full = Flag("full", "Ask for the whole phrase instead of three words of it.")

    /// What every command takes that speaks with the identity's server.
    static let identity =
        [
            server.option, plainHTTP.option, authority.option, keyService.option, newResponseKey.option,
        ] + unlocking

    /// As ``identity``, where the vault's owner must prove that he is there: a PIN opens and proves nothing.
    static let identityProved = identity.filter { $0.name != pinDescriptor.option.name }

    /// As ``unlocking``, likewise.
    static let proving = unlocking.filter { $0.name != pinDescriptor.option.name }

    static let defaultCollection = Vault.defaultCollection

    /// What every command takes that opens the vault.
    static let unlocking = [
        home.option, passcodeDescriptor.option, pinDescriptor.option, phrase.option, phraseDescriptor.option,
    ]
}
