internal import CommandLineArguments

/// What `holdfast` prints first, and the pages that it leads to.
enum FrontPage {
    /// It fits a terminal of 24 lines and 76 columns, and has every command of an ordinary day.
    private static let page = """
        Holdfast keeps passwords and other secrets in an encrypted vault.

          init            create a vault
          add NAME        add a login, a card, a note or something else
          list            list what is there; --tree shows folders
          show NAME       show an entry
          copy NAME       copy its password, or another field
          otp NAME        show its one-time code
          edit NAME       change it
          rm NAME         move it to the trash
          find WORD       search names, user names, addresses and tags
          generate        make a random password
          unlock, lock    open the vault for a while; close it
          import FILE     take in what another password manager exported
          export FILE     write a KeePass database
          backup FOLDER   copy the vault, or bring that copy up to date
          restore FOLDER  make the vault from a backup
          run, inject     give secrets to a program; fill them into a file
          status, doctor  how things stand; what protects the vault here
          mv OLD NEW      rename an entry, or move it to another folder

        A folder is part of the name: logins/mail. To read, part of it is enough.
        One command: holdfast COMMAND --help. The rest: holdfast help vault,
        help programs, help identity, help options, help all.

        """

    /// Other words for these commands, as people know them from elsewhere.
    private static let aliases: KeyValuePairs = [
        "ls": ["list"], "search": ["find"], "clip": ["copy"], "cat": ["get"], "remove": ["rm"],
        "version": [Flag.version.option.spelled],
    ]

    static let everyDay: [ProgramTable<Command>.Section] = [
        .init(
            title: "Every day",
            commands: [
                .create, .add, .list, .show, .copyField, .code, .edit, .remove, .find, .generate, .unlock, .lock,
                .importItems, .exportItems, .backup, .restore, .run, .inject, .status, .doctor,
            ])
    ]

    private static let vault: [ProgramTable<Command>.Section] = [
        .init(
            title: "Entries",
            commands: [
                .move, .copyRecord, .put, .get, .tagList, .tagAdd, .tagRemove, .historyList, .historyRestore,
                .trashList,
                .trashRestore, .trashEmpty, .inboxList, .inboxAccept, .inboxReject, .adoptNames,
            ]),
        .init(
            title: "What unlocks it",
            commands: [
                .passcodeChange, .passcodeCheck, .recover, .enrollPIN, .enrollFingerprint, .enrollAccount, .enrollTPM,
                .enrollPhrase, .enrollRemove, .openWithoutAsking, .askAgain,
            ]),
        .init(
            title: "Its rules",
            commands: [
                .lockPolicyShow, .lockPolicySet, .selfDestructEnable, .selfDestructDisable, .selfDestructCancel,
            ]),
        .init(
            title: "Several devices",
            commands: [.syncAdd, .syncInvite, .syncStatus, .syncNow, .syncRemove, .syncLeave, .merge]),
        .init(
            title: "The vault as a whole",
            commands: [.verify, .health, .log, .hardwareClaim, .hardwareLeave, .wipe, .receiptVerify]),
    ]

    private static let programs: [ProgramTable<Command>.Section] = [
        .init(
            title: "Programs that get secrets",
            commands: [
                .gitCredential, .dockerCredential, .cargoCredential, .kubernetesCredential, .sshAgent, .sshGenerate,
                .sshImport, .sshCertificate, .secretsServe, .secretsStop, .leaseList, .leaseAdd, .leaseRevoke,
                .credentialsServe, .credentialsList,
            ])
    ]

    private static let identity: [ProgramTable<Command>.Section] = [
        .init(
            title: "Identity",
            commands: [
                .identityCreate, .identityRecover, .identityDelete, .identityLink, .identityAcceptLink,
                .identityUnlink, .identityRotate, .identitySessionOpen, .identitySessionRefresh,
                .identitySessionClose, .identityRequest, .identityChangeRecovery, .identityTrust, .identityErase,
                .identityStatus, .identityDrill,
            ])
    ]

    /// What is on no page but `help all`.
    private static let rest: [ProgramTable<Command>.Section] = [
        .init(title: "Settings and help", commands: [.config, .configSet, .completions, .help])
    ]

    static let sections = everyDay + vault + programs + identity + rest

    static let front = ProgramTable<Command>.Front(
        page: page,
        topics: [
            .init(
                word: "vault", about: "Commands for what is in the vault, what unlocks it, and what becomes of it.",
                sections: vault),
            .init(
                word: "programs",
                about: "Commands by which other programs get secrets. For scripts there are holdfast run and holdfast "
                    + "inject.",
                sections: programs),
            .init(
                word: "identity",
                about: "An identity proves to a server that it is you, by keys of your devices instead of a password. "
                    + "You need one only for apps that ask for it; it has a recovery phrase of its own.",
                sections: identity),
        ],
        common: [
            Options.home.option, Options.json.option, Options.yes.option, Options.passcodeDescriptor.option,
            Options.pinDescriptor.option, Options.phrase.option, Options.phraseDescriptor.option, Flag.help.option,
        ],
        aliases: aliases)
}
