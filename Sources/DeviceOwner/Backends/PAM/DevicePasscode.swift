internal import CPAM
internal import SecretMemory
internal import SystemCalls
internal import VaultFormat

/// The passcode of the device's account, by PAM's service `holdfast`. Never counted: the system has its own rules.
struct DevicePasscode: OwnerBackend {
    let step = OwnerStep.devicePasscode
    let hasEnrollment = false
    private let service: String
    private let folder: String?
    private let user: String?

    /// - Parameters:
    ///   - service: The name of the service file.
    ///   - folder: Where it lies; nil for the system's own folders, which only root writes.
    ///   - user: Whose passcode; nil for the user of this process.
    init(service: String = "holdfast", folder: String? = nil, user: String? = nil) {
        self.service = service
        self.folder = folder
        self.user = user
    }

    private static let systemFolders = ["/etc/pam.d", "/usr/lib/pam.d", "/usr/share/pam.d"]

    func enrollment() -> OwnerEnrollment? { nil }

    func capability() -> OwnerCapability {
        guard PAMLibrary.loaded != nil else { return .missing("libpam is not installed") }
        guard userName != nil else { return .missing("this user has no account") }
        // Without its own service file, PAM would apply the rules of "other", which were made for other services.
        let folders = folder.map { [$0] } ?? DevicePasscode.systemFolders
        let files = folders.map { "\($0)/\(service)" }
        guard let file = files.first(where: { unsafe access($0, F_OK) == 0 }) else {
            return .missing("PAM has no service \"\(service)\"")
        }
        guard PAMRules(at: file)?.checksPasscode == true else {
            return .broken("\(file) cannot be read or has no rule that checks a passcode")
        }
        return .available
    }

    private var userName: String? {
        if let user { return user }
        guard let entry = unsafe getpwuid(getuid()), let name = unsafe entry.pointee.pw_name else { return nil }
        return unsafe String(validatingCString: name)
    }

    func confirm(
        _ conversation: any OwnerConversation, until deadline: UInt64, onNonMatch: () -> Bool
    ) -> OwnerVerdict {
        let capability = capability()
        guard capability == .available, let library = PAMLibrary.loaded, let userName else {
            return .impossible(capability)
        }
        let talk = PAMTalk(conversation, deadline)
        let status = library.check(service: service, folder: folder, user: userName, talk)
        // What PAM makes of a conversation that was broken off differs from module to module; we know better.
        if talk.isCancelled || conversation.cancellation.isCancelled { return .cancelled }
        if talk.isLate || MonotonicClock.milliseconds >= deadline { return .timedOut }
        switch status {
        case PAM_SUCCESS: return .confirmed
        // Right or wrong, something was asked and the answer was no. Without a question there is no refusal.
        case PAM_AUTH_ERR, PAM_PERM_DENIED, PAM_MAXTRIES, PAM_USER_UNKNOWN:
            return talk.hasAsked ? .refused : .impossible(.lockedOut("the account takes no passcode now"))
        case PAM_ACCT_EXPIRED, PAM_CRED_EXPIRED: return .impossible(.lockedOut("the account has expired"))
        case PAM_NEW_AUTHTOK_REQD: return .impossible(.lockedOut("the passcode of the account has to be changed first"))
        case PAM_AUTHINFO_UNAVAIL: return .impossible(.missing("the passcode of the account cannot be checked here"))
        default: return .impossible(.missing("PAM failed (\(status))"))
        }
    }
}

/// A service file of PAM, as far as it has to be looked at before PAM is asked: for a kind of rule that the file lacks,
/// PAM applies those of the service "other", which were made for other services (pam.conf(5)).
struct PAMRules {
    private let lines: [String]

    /// Nil for a file that cannot be read, or that is too large for one.
    init?(at path: String) {
        // Not to wait for a writer, should it be a pipe.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            (0...PAMRules.mostBytes).contains(status.st_size)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        guard unsafe read(file, &bytes, bytes.count) == bytes.count else { return nil }
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static let mostBytes = 65_536

    /// Whether there is a rule of the kind `auth`, or another file is taken in that may have one.
    var checksPasscode: Bool {
        lines.contains { line in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard let kind = words.first?.lowercased(), words.count > 1 else { return false }
            return ["auth", "-auth", "@include"].contains(kind)
        }
    }
}
