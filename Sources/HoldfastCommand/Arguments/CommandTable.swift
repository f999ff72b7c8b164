/// All commands, in the order in which help lists them.
enum CommandTable {
    /// Commands under one heading of the list that `holdfast --help` prints.
    struct Section: Sendable {
        let title: String
        let commands: [Command]
    }

    static let sections = [
        Section(
            title: "Vault",
            commands: [
                .create, .put, .get, .list, .remove, .inboxList, .inboxAccept, .inboxReject, .backup, .restore,
            ]),
        Section(
            title: "Unlock and lock",
            commands: [
                .unlock, .lock, .status, .explain, .passcodeChange, .passcodeVerify, .recover,
            ]),
        Section(
            title: "Protection",
            commands: [
                .enrollPIN, .enrollFingerprint, .enrollDevice, .enrollTPM, .enrollPhrase, .slots, .removeSlot,
                .hardwareClaim, .hardwareLeave, .lockPolicyShow, .lockPolicySet, .lockPolicyExplain,
                .selfDestructEnable, .selfDestructDisable, .selfDestructCancel, .selfDestructStatus, .wipe,
                .receiptVerify,
            ]),
        Section(
            title: "Identity",
            commands: [
                .identityCreate, .identityRecover, .identityDelete, .identityLink, .identityAcceptLink,
                .identityUnlink, .identityRotate, .identitySessionOpen, .identitySessionRefresh,
                .identitySessionClose, .identityRequest, .identityChangeRecovery, .identityTrust, .identityErase,
                .identityStatus, .identityDrill,
            ]),
        Section(
            title: "Maintenance",
            commands: [
                .doctor, .verify, .log, .tour, .completions, .help,
            ]),
    ]

    static let all = sections.flatMap(\.commands)

    /// Commands for programs: they work and have help, but are neither listed nor completed.
    static let hidden: [Command] = [.agent]

    /// Options that are also accepted before the command.
    static let general = [Options.home.option, Options.json.option, Options.help.option, Options.version.option]

    static func command(_ words: [String]) -> Command? { (all + hidden).first { $0.words == words } }

    /// The commands whose name begins with these words and has more.
    static func group(_ words: [String]) -> [Command] {
        all.filter { $0.words.count > words.count && $0.words.starts(with: words) }
    }

    /// What may follow these words.
    static func nextWords(_ words: [String]) -> [String] {
        var next: [String] = []
        for command in group(words) where !next.contains(command.words[words.count]) {
            next.append(command.words[words.count])
        }
        return next
    }
}
