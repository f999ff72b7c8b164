internal import CommandLineArguments

/// All commands, in the order in which help lists them.
enum CommandTable {
    private static let sections: [ProgramTable<Command>.Section] = [
        .init(
            title: "Vault",
            commands: [
                .create, .list, .find, .move, .copyRecord, .remove, .put, .get, .inboxList, .inboxAccept, .inboxReject,
                .backup, .restore,
            ]),
        .init(
            title: "Items",
            commands: [
                .add, .show, .copyField, .code, .edit, .generate, .historyList, .historyRestore, .tagList, .tagAdd,
                .tagRemove, .trashList, .trashRestore, .trashEmpty, .importItems,
                .exportItems,
            ]),
        .init(
            title: "Unlock and lock",
            commands: [
                .unlock, .lock, .status, .explain, .passcodeChange, .passcodeVerify, .recover,
            ]),
        .init(
            title: "Other programs",
            commands: [
                .run, .inject, .gitCredential, .dockerCredential, .sshAgent, .sshGenerate, .sshImport, .secretsServe,
                .leaseList, .leaseAdd, .leaseRevoke,
            ]),
        .init(
            title: "Protection",
            commands: [
                .enrollPIN, .enrollFingerprint, .enrollDevice, .enrollTPM, .enrollPhrase, .slots, .addSlot, .removeSlot,
                .hardwareClaim, .hardwareLeave, .lockPolicyShow, .lockPolicySet, .lockPolicyExplain,
                .selfDestructEnable, .selfDestructDisable, .selfDestructCancel, .selfDestructStatus, .wipe,
                .receiptVerify,
            ]),
        .init(
            title: "Identity",
            commands: [
                .identityCreate, .identityRecover, .identityDelete, .identityLink, .identityAcceptLink,
                .identityUnlink, .identityRotate, .identitySessionOpen, .identitySessionRefresh,
                .identitySessionClose, .identityRequest, .identityChangeRecovery, .identityTrust, .identityErase,
                .identityStatus, .identityDrill,
            ]),
        .init(
            title: "Maintenance",
            commands: [
                .doctor, .verify, .log, .configShow, .configSet, .completions, .help,
            ]),
    ]

    static let program: ProgramTable<Command> = ProgramTable(
        name: "holdfast", about: "Keeps secrets in an encrypted vault, locked with a passcode.",
        example: "holdfast add logins/mail -u ada --generate", sections: sections,
        hidden: [.agent, .clipboard, .complete, .sync],
        general: [Options.home.option, Options.json.option],
        notes: [
            .init(homeRule) { $0.options.contains(Options.home.option) },
            .init(secretRule) { $0.options.contains { $0.kind == .descriptor } },
        ],
        exitCodes: ExitCode.allCases.map { ($0.rawValue, $0.meaning) })

    private static let homeRule =
        "The vault is in the folder given with --home, otherwise in $HOLDFAST_HOME, $XDG_DATA_HOME/holdfast, or "
        + "~/.local/share/holdfast."

    private static let secretRule =
        "Secrets are entered on the terminal without being shown, or read from the file descriptor you name, one line "
        + "each. They are never read from arguments or the environment."
}
