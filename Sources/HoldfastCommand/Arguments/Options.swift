internal import CommandLineArguments
internal import ProgramAccess
internal import Holdfast
internal import HoldfastAgent

/// Every option, once; commands list the ones they accept.
enum Options {
    static let json = Flag("json", "Print one JSON object, also for errors.")
    static let raw = Flag("raw", "Write the bytes as they are, on a terminal too.")
    static let replace = Flag("replace", "Replace an existing entry.")
    static let clean = Flag(
        "clean", "If everything is intact, also finish an interrupted --rekey and remove unreferenced files.")
    static let rekey = Flag(
        "rekey", "Also make new keys, so that old copies cannot open what is written later.")
    static let open = Flag("open", "Use the open compartment, which needs no passcode.")
    static let writeOnly = Flag("write-only", "With --open: seal it, so that only the unlocked vault can read it.")
    static let yes = Flag("yes", "Do not ask for confirmation.")
    static let device = Flag("device", "Ask for nothing: this machine's TPM or your keyring opens the vault.")
    static let fileShare = Flag("file", "With --device: keep the key in a file, where it protects nothing.")
    static let weak = Flag("weak", "Accept a passcode that is guessed at once.")
    static let insist = Flag("insist", "Proceed although you may lose everything in the vault.")
    static let claimHardware = Flag(
        "claim-hardware", "This folder is the vault itself: the keys in the TPM and the keyring are its own.")
    static let leaveHardware = Flag(
        "leave-hardware", "This folder is a copy: leave the keys in the TPM and the keyring to the vault.")
    static let dryRun = Flag("dry-run", "Only list what would be erased.")
    static let phrase = Flag("phrase", "Use the recovery phrase, and prompt for it.")

    static let noAgent = Flag("no-agent", "Neither use an agent nor start one.")
    /// Only in the configuration file.
    static let remember = TextOption(
        "unlock.remember", "YES|NO", .word(["yes", "no"]),
        help: "Keep the vault open after a passcode was typed (default: yes).")

    static let passcode = Flag("passcode", "Ask for the passcode instead of any other unlock method.")
    static let keepsOnDisk = Flag("on-disk", "Keep it on disk, so that it works after a restart.")
    /// What `--on-disk` of `enroll` was called.
    static let keep = Flag("keep", "Keep it on disk, so that it works after a restart.", isHidden: true)
    static let deep = Flag("deep", "Also test each part, and undo the test.")
    static let systemBus = TextOption(
        "system-bus", "ADDRESS", help: "Check the D-Bus at ADDRESS instead of the machine's own.")
    static let pamFolder = TextOption(
        "pam-folder", "DIR", .folder, help: "Look for PAM rules in DIR instead of the system's folders.")

    static let credentialCollection = TextOption(
        "collection", "C", .collection,
        help: "The collection of these passwords (default: \"\(CredentialStore.defaultCollection)\").", short: "c")
    static let variable = ListOption(
        "env", "NAME=REFERENCE", help: "Set this variable to the value that the reference names.")
    static let variableFile = ListOption(
        "env-file", "FILE", help: "Also set the variables of this file, NAME=value in each line.")
    static let mask = Flag("mask", "Hide the values in the program's output.")
    static let templateIn = TextOption("in", "FILE", .file, help: "Read the template from FILE.", short: "i")
    static let resultOut = TextOption("out", "FILE", .file, help: "Write the result to this new file.", short: "o")
    static let keyIn = TextOption("in", "FILE", .file, help: "Read the key from FILE.", short: "i")
    static let servesSecrets = Flag("secret-service", "Also be the session's Secret Service, from the beginning.")
    static let servesSSH = Flag("ssh", "Also serve SSH programs, from the beginning.")
    static let pinentry = TextOption(
        "pinentry", "PROGRAM", .file, help: "Ask the user with this pinentry (default: the terminal, then pinentry).")
    static let leaseTime = SecondsOption(
        "for", 1...86_400, help: "End the lease after this time, such as 10min (default: when the vault locks).")
    static let leaseTag = TextOption("tag", "TAG", .tag, help: "Allow all entries with this tag.")
    static let onDisk = Flag("on-disk", "With --out: the file may be on a disk.")
    static let replaceFile = Flag("replace", "With --out: replace an existing file.")

    static let shutDown = Flag("shut-down", "Also end the agent.")
    static let report = Flag("report", "Report the result to the program that started this one.")

    static let idle = SecondsOption(
        "idle", 1...604_800,
        help:
            "Lock after this time without use, such as 10min (default: \(DurationWord.word(Int(AgentSettings.standardIdle))))."
    )
    static let timeout = SecondsOption(
        "timeout", 1...604_800,
        help: "Lock after this time in any case (default: \(DurationWord.word(Int(AgentSettings.standardTimeout)))).")

    static let home = TextOption("home", "DIR", .folder, help: "The vault's folder.")
    /// For earlier scripts; everybody else writes the collection in front of the name.
    static let collection = TextOption(
        "collection", "C", .collection, help: "The collection to the byte; then the name is all of the name.",
        short: "c", isHidden: true)
    static let asName = TextOption(
        "as", "NAME", help: "Store it under this name (default: the name it was written with).")
    static let onlyCollection = TextOption(
        "collection", "C", .collection, help: "Only what is below this first part of a name.", short: "c")

    static let last = TextOption("last", "N", .number, help: "Only the newest N entries.")
    static let receipt = TextOption("receipt", "FILE", .file, help: "Also write the receipt to this new file.")
    static let receiptKey = TextOption(
        "key", "PUBLIC", help: "The public key that was shown when self-destruct was turned on.")
    static let countdown = SecondsOption(
        "countdown", 30...86_400,
        help: "Wait this long, such as 10min, instead of 30s; never less than the policy says.")

    static let passcodeDescriptor = DescriptorOption(
        "passcode-fd", "Read the passcode from file descriptor N, one line.")
    static let passcodesDescriptor = DescriptorOption(
        "passcode-fd", "Read the current and the new passcode from file descriptor N, one line each.")
    static let twoPasscodesDescriptor = DescriptorOption(
        "passcode-fd", "Read the passcode from file descriptor N twice: one line to begin and one to confirm.")
    static let newPasscodeDescriptor = DescriptorOption(
        "passcode-fd", "Read the new passcode from file descriptor N, one line.")
    static let pinDescriptor = DescriptorOption("pin-fd", "Use the PIN, and read it from file descriptor N, one line.")
    static let newPINDescriptor = DescriptorOption("pin-fd", "Read the new PIN from file descriptor N, one line.")
    static let phraseDescriptor = DescriptorOption(
        "phrase-fd", "Use the recovery phrase, and read it from file descriptor N, one line.")
    static let phraseOutDescriptor = DescriptorOption(
        "phrase-out-fd", "Write the recovery phrase to file descriptor N instead of the terminal.")

    static let keyOutDescriptor = DescriptorOption(
        "key-out-fd",
        "Also write the log's key to file descriptor N, to verify the log without the vault; anyone who has it can forge entries."
    )

    static let server = TextOption(
        "server", "URL", help: "The identity's server; needed once, then remembered.")
    static let plainHTTP = Flag(
        "plain-http", "Allow http to another machine: anyone listening learns who you are and when.")
    static let authority = TextOption(
        "authority", "KEY",
        help:
            "Trust this response key, or the key chain with this id; remembered. "
            + "Without it, the first key that the server names is trusted.")
    static let newResponseKey = Flag(
        "new-response-key", "Trust the server's current key, because the server has changed it.")
    static let keyService = TextOption(
        "key-service", "URL", help: "Where the key chain of --authority is published (default: the server).")
    static let keys = TextOption(
        "keys", "PLACE", .word(["tpm", "vault"]),
        help:
            "Where to create the keys of this device: in the TPM (default, if there is one) or in the vault."
    )
    static let recoveryDescriptor = DescriptorOption(
        "recovery-fd", "Read the identity's recovery phrase from file descriptor N, one line.")
    static let recoveryOutDescriptor = DescriptorOption(
        "recovery-out-fd", "Write the identity's new recovery phrase to file descriptor N instead of the terminal.")
    static let qr = Flag("qr", "Also show it as a QR code.")
    static let at = TextOption("at", "URL", help: "The app server (default: the identity's own server).")
    static let appKey = TextOption("app-key", "KEY", help: "The response key of the app server.")
    static let full = Flag("full", "Ask for the whole phrase instead of three words of it.")

    /// The options of every command that talks to the identity's server.
    static let identity =
        [
            server.option, plainHTTP.option, authority.option, keyService.option, newResponseKey.option,
        ] + unlocking

    /// Like ``identity``, for operations that need a proof; a PIN is not one.
    static let identityProved = identity.filter { ![pinDescriptor.option, noAgent.option].contains($0) }

    /// As ``unlocking``, likewise.
    static let proving = unlocking.filter { ![pinDescriptor.option, noAgent.option].contains($0) }

    /// Likewise, where it is asked for twice.
    static let provingTwice = proving.map {
        $0 == passcodeDescriptor.option ? twoPasscodesDescriptor.option : $0
    }

    static let defaultCollection = Vault.defaultCollection

    /// The options of every command that opens the vault.
    static let unlocking = [
        home.option, passcodeDescriptor.option, pinDescriptor.option, phrase.option, phraseDescriptor.option,
        noAgent.option,
    ]
}
