internal import BetterAuthHTTP
internal import BetterAuthServer
internal import BetterAuthVerification
internal import CommandLineArguments
internal import Cryptography
internal import SystemCalls

/// What the operator of a server can do about an error. A library says what is wrong; these are the server's own words,
/// one for each case. A case without advice does not compile.
enum OperatorAdvice {
    /// What happened and what to do, in one line. Another's error may say anything, so only its type is told.
    static func line(for error: any Error) -> String {
        switch error {
        case let error as UsageError: "\(error)"
        case let error as Mistakes: error.all.map(\.description).joined(separator: "; ")
        case let error as KeyFile.Failure: "\(error); \(on(error))"
        case let error as StoreError: "\(error); \(on(error))"
        case let error as KeyCustody.Problem: "\(error); \(on(error))"
        case let error as HTTPError: "\(error); \(on(error))"
        case let error as AdminSocket.Failure: "\(error); \(error.advice)"
        case let error as PlainHTTP.Failure: "\(error)"
        case let error as KeyChainError: "\(error); \(on(error))"
        case let error as AuditLog.Failure:
            "\(error); name a file with --audit-log that this user owns and nobody else may write"
        case let error as AuditReader.Failure: "\(error)"
        default: "something failed in a way that was not expected (\(type(of: error))); report this error"
        }
    }

    /// Whether an error may go away by itself, so that a service manager starts the server again. What others bring may
    /// come: a name, another machine or process, a file with a secret or a certificate. What is written wrongly does
    /// not, nor does a folder in which the server is to make its own files.
    static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case let error as UsageError: error.mayPass
        case let error as Mistakes: error.mayPass
        case HTTPError.notAnAddress, HTTPError.daemon, is AuditLog.Failure: false
        case KeyFile.Failure.damaged, KeyFile.Failure.newer, KeyFile.Failure.exposed, KeyFile.Failure.plain,
            KeyFile.Failure.sealed, StoreError.copyInTheWay, StoreError.needsBackup:
            false
        default: true
        }
    }

    static func on(_ failure: KeyFile.Failure) -> String {
        switch failure {
        case .missing: "name the file with --keys-file; serve and init make one"
        case .system(_, ENOSPC), .system(_, EDQUOT): "make room on its disk"
        case .system: "name a file with --keys-file that this user may read and write"
        case .exposed: "give it the mode 0600, and replace its keys with holdfast-server rotate-keys"
        case .damaged: "put a copy of the keys back, or name another file with --keys-file"
        case .newer: "update the program on this machine; an earlier one cannot use these keys"
        case .full:
            "rotate less often, or let sessions end earlier (--refresh-seconds); keys stay as long as they do"
        case .unreadable: "check the disk, and report this error if the disk is sound"
        case .busy: "look which process has a lock on its folder (lsof, fuser)"
        case .sealed: "start with --keys-in tpm"
        case .plain: "holdfast-server rotate-keys --keys-in tpm seals them"
        case .seal: "check that this user may use the TPM, and that it is the one that sealed the keys"
        case .cryptography(.memory):
            "the limit of locked memory is too low: raise LimitMEMLOCK (ulimit -l) to 64 MiB"
        case .cryptography: "install the cryptographic libraries again"
        }
    }

    static func on(_ error: StoreError) -> String {
        switch error {
        case .unavailable:
            "check that the database is the one that was meant, that it runs, and its disk"
        case .missing: "serve and init make one; for another, name it with --database"
        case .tooOld: "run holdfast-server migrate, with a user that may change tables"
        case .tooNew: "update the program on this machine; an earlier one cannot serve these tables"
        case .notCopied:
            "make room for it, and let this user make files there; if the database is damaged, put a backup back"
        case .copyInTheWay: "move it away: it may be the copy of an earlier update"
        case .needsBackup: "make a backup (pg_dump), then repeat with --backup-made"
        case .damaged: "put a backup back; for SQLite, holdfast-server check counts what is damaged"
        case .full: "holdfast-server vacuum removes what has expired"
        }
    }

    static func on(_ problem: KeyCustody.Problem) -> String {
        switch problem {
        case .lost, .foreign:
            "put the copy of the keys back; if there is none, serve --new-keys starts with others (Docs/operations.md)"
        case .older: "put the latest copy of the keys back; if there is none, serve --new-keys goes on with this one"
        }
    }

    static func on(_ error: KeyChainError) -> String {
        switch error {
        case .broken(_, .time): "check the clocks of this machine and of the key chain's keeper"
        default: "check that --trust names the chain of --hsm, and that its keeper is the right one"
        }
    }

    static func on(_ error: HTTPError) -> String {
        switch error {
        case .notAnAddress: "write --listen 127.0.0.1:8080 or --listen '[::1]:8080'"
        case .unresolved: "write an address of this machine for --listen, or check the name and its server"
        case .system: "check that nothing else listens at the address of --listen, and that this user may"
        case .unbound: "start the program as it was built, without LD_PRELOAD"
        case .daemon: "check that --tls-certificate and --tls-key belong together"
        }
    }
}
