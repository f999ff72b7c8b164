internal import SystemCalls
internal import VaultFormat

/// Fingerprints by fprintd (`net.reactivated.Fprint`).
///
/// A match is a message of a daemon that runs as root, and only counts when it comes from the connection that has the
/// daemon's name and was asked by us. It releases the keeper's share and nothing else.
struct FingerprintReader: OwnerBackend {
    let step = OwnerStep.biometrics
    let hasEnrollment = true
    private let address: BusAddress
    private let daemonUser: UInt32

    /// - Parameters:
    ///   - address: The bus of the daemon.
    ///   - daemonUser: The user that the daemon must run as: root, except for a private daemon in a test.
    init(at address: BusAddress = .system, daemonUser: UInt32 = 0) {
        self.address = address
        self.daemonUser = daemonUser
    }

    /// Milliseconds that a question to the daemon may take: it is started for the first one.
    static let probePatience: UInt64 = 1500
    /// Prompts of its own that a prompt of ours has before it ends without a match.
    static let triesOfAPrompt = 3

    func capability() -> OwnerCapability {
        do throws(FingerprintProblem) {
            let session = try FingerprintSession(address, daemonUser)
            let fingers = try session.enrolledFingers()
            if fingers.isEmpty { return FingerprintProblem.noFingers.capability }
            return .available
        } catch { return error.capability }
    }

    func enrollment() -> OwnerEnrollment? {
        do throws(FingerprintProblem) {
            let session = try FingerprintSession(address, daemonUser)
            let fingers = try session.enrolledFingers()
            return fingers.isEmpty ? nil : OwnerEnrollment(fingers.map { "\(session.sensorName)/\($0)" })
        } catch { return nil }
    }

    func confirm(
        _ conversation: any OwnerConversation, until deadline: UInt64, onNonMatch: () -> Bool
    ) -> OwnerVerdict {
        do throws(FingerprintProblem) {
            let session = try FingerprintSession(address, daemonUser)
            try session.claim()
            // Whatever happens: a sensor that stays claimed is lost to the login screen.
            defer { session.release() }
            return try verify(session, conversation, deadline, onNonMatch)
        } catch { return .impossible(error.capability) }
    }

    private func verify(
        _ session: FingerprintSession, _ conversation: any OwnerConversation, _ deadline: UInt64,
        _ onNonMatch: () -> Bool
    ) throws(FingerprintProblem) -> OwnerVerdict {
        for attempt in 1...FingerprintReader.triesOfAPrompt {
            try session.start()
            conversation.show(.touch)
            let sample = try sample(session, conversation, deadline)
            session.stop()
            switch sample {
            case .match: return .confirmed
            case .cancelled: return .cancelled
            case .nothing: return .timedOut
            case .noMatch:
                guard onNonMatch() else { return .refused }
                if attempt < FingerprintReader.triesOfAPrompt { conversation.show(.noMatch) }
            }
        }
        return .refused
    }

    private enum Sample { case match, noMatch, cancelled, nothing }

    /// Waits for one sample that the daemon has judged; those that it could not judge are asked for again.
    private func sample(
        _ session: FingerprintSession, _ conversation: any OwnerConversation, _ deadline: UInt64
    ) throws(FingerprintProblem) -> Sample {
        while true {
            while let status = try session.nextStatus() {
                switch status {
                case .match: return .match
                case .noMatch: return .noMatch
                case .again(let guidance): conversation.show(guidance)
                case .expects(let finger): conversation.expect(finger)
                }
            }
            switch try session.wait(until: deadline, conversation.cancellation) {
            case .something: continue
            case .cancelled: return .cancelled
            case .timeOver: return .nothing
            }
        }
    }
}

/// Why the sensor gives no verdict.
enum FingerprintProblem: Error, Hashable {
    case noLibrary
    case noBus
    case noDaemon
    case noSensor
    case noFingers
    case impostor
    case inUse
    case refused
    case silent
    case gone
    case failed

    var capability: OwnerCapability {
        switch self {
        case .noLibrary: .missing("libsystemd is not installed, and without it no bus can be asked")
        case .noBus: .missing("there is no system bus")
        case .noDaemon: .missing("fprintd is not installed or does not start")
        case .noSensor: .missing("no fingerprint sensor is connected")
        case .noFingers: .notEnrolled("no finger is enrolled for this user (fprintd-enroll)")
        case .impostor: .broken("what answers as fprintd does not run as root")
        case .inUse: .busy("another program uses the fingerprint sensor")
        case .refused: .broken("the system does not let this session use the fingerprint sensor (polkit)")
        case .silent: .busy("the fingerprint sensor does not answer")
        case .gone: .missing("the fingerprint sensor or its daemon went away")
        case .failed: .broken("the fingerprint sensor failed")
        }
    }
}
