/// All commands, in the order in which help lists them.
enum CommandTable {
    static let all: [Command] = [
        .create, .unlock, .lock, .put, .get, .list, .remove, .inboxList, .inboxAccept, .inboxReject, .backup, .restore,
        .passcodeChange, .passcodeVerify, .verify, .recover, .status, .log, .lockPolicyShow, .lockPolicySet,
        .lockPolicyExplain, .selfDestructEnable, .selfDestructDisable, .selfDestructCancel, .selfDestructStatus, .wipe,
        .receiptVerify, .identityCreate, .identityRecover, .identityDelete, .identityLink, .identityAcceptLink,
        .identityUnlink, .identityRotate, .identitySessionOpen, .identitySessionRefresh, .identitySessionClose,
        .identityRequest, .identityChangeRecovery, .identityTrust, .identityErase, .identityStatus, .identityDrill,
        .enrollTPM,
        .enrollPIN, .enrollFingerprint, .enrollDevice, .enrollPhrase, .slots, .removeSlot, .hardwareClaim,
        .hardwareLeave, .doctor, .explain, .tour,
        .completions,
        .help,
    ]

    /// Commands for programs: understood and documented, but neither listed nor completed.
    static let hidden: [Command] = [.agent]

    /// Options that may stand before the command too.
    static let general = [Options.home.option, Options.json.option, Options.help.option, Options.version.option]

    static func command(_ words: [String]) -> Command? { (all + hidden).first { $0.words == words } }

    /// The commands whose name begins with these words and goes on.
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
