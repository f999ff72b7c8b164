internal import SecretMemory
internal import SystemCalls

/// The Secret Service of the user's session, asked as any program may ask it (Secret Service API 0.2). It is another
/// program: what it says is read within limits and never a trap.
package final class KeyringBus {
    /// Why something was not had.
    package enum Problem: Error, Sendable, Hashable {
        /// There is no session bus, or no libsystemd; the error number.
        case unavailable(Int32)
        /// No program is the Secret Service.
        case noService
        /// It does not answer, or all its answers together take too long.
        case slow
        /// It refused, or did not do what it should; the error's name where it has one.
        case failed(String)
    }

    static let name = "org.freedesktop.secrets"
    static let root = "/org/freedesktop/secrets"
    private static let interface = "org.freedesktop.Secret."
    /// Milliseconds that the service has for one answer.
    private static let longest: UInt64 = 25_000

    let bus: SystemBus
    /// When all that is asked has to be answered, by the monotonic clock in milliseconds.
    private let deadline: UInt64
    /// The unique name: another program cannot take the service's place in the middle.
    package let owner: String
    /// The process that is the service; 0 where the bus does not tell.
    package let process: Int32

    /// Connects. No service is started.
    /// - Parameters:
    ///   - address: Of the bus; nil for the one that the environment names.
    ///   - deadline: When all that is asked has to be answered, by the monotonic clock in milliseconds.
    /// - Throws: ``Problem``.
    package init(at address: BusAddress? = nil, until deadline: UInt64) throws(Problem) {
        self.deadline = deadline
        do throws(BusFailure) {
            bus = if let address { try SystemBus(address) } else { try SystemBus(session: ()) }
        } catch { throw .unavailable(error.number) }
        let patience = try KeyringBus.patience(until: deadline)
        do throws(BusFailure) { owner = try bus.owner(of: KeyringBus.name, patience: patience) } catch {
            throw error.isSilence ? .slow : .noService
        }
        let number = try? bus.call(.bus, "GetConnectionUnixProcessID", [.text(owner)], patience: patience)
        process = number?.number().flatMap { Int32(exactly: $0) } ?? 0
    }

    /// Milliseconds for the next answer.
    private static func patience(until deadline: UInt64) throws(Problem) -> UInt64 {
        let now = MonotonicClock.milliseconds
        guard now < deadline else { throw .slow }
        return min(longest, deadline - now)
    }

    func call(
        _ path: String, _ kind: String, _ member: String, _ arguments: [SystemBus.Argument] = []
    ) throws(Problem) -> BusMessage {
        let interface = kind.hasPrefix("org.") ? kind : KeyringBus.interface + kind
        let patience = try KeyringBus.patience(until: deadline)
        do throws(BusFailure) {
            return try bus.call(
                .init(service: owner, path: path, interface: interface), member, arguments, patience: patience)
        } catch {
            if error.isSilence { throw .slow }
            let name = error.name.split(separator: ".").last.map(String.init)
            throw .failed(name ?? "error \(error.number)")
        }
    }

    /// Opens an encrypted session.
    /// - Parameter publicNumber: Ours, as the algorithm has it.
    /// - Returns: The session's path and the service's public number.
    /// - Throws: ``Problem``.
    package func openSession(
        _ algorithm: String, _ publicNumber: [UInt8]
    ) throws(Problem) -> (path: String, publicNumber: [UInt8]) {
        let reply = try call(KeyringBus.root, "Service", "OpenSession", [.text(algorithm), .bytes(publicNumber)])
        guard reply.enter(UInt8(ascii: "v"), "ay"), let number = reply.bytes(atMost: 128) else {
            throw .failed("OpenSession")
        }
        reply.leave()
        guard let path = reply.objectPath() else { throw .failed("OpenSession") }
        return (path, number.withBytes { unsafe $0.withUnsafeBytes { unsafe Array($0) } })
    }

    /// Has the service unlock an object, which asks the user itself.
    /// - Parameter patience: Milliseconds that the user has.
    /// - Returns: Whether it is unlocked.
    /// - Throws: ``Problem``.
    package func unlock(_ path: String, patience: UInt64) throws(Problem) -> Bool {
        let reply = try call(KeyringBus.root, "Service", "Unlock", [.paths([path])])
        let unlocked = reply.objectPaths()
        guard let prompt = reply.objectPath() else { throw .failed("Unlock") }
        if prompt == "/" { return unlocked.contains(path) }
        let rule =
            "type='signal',sender='\(owner)',interface='\(KeyringBus.interface)Prompt',member='Completed'"
        let forBus = try KeyringBus.patience(until: deadline)
        do throws(BusFailure) { try bus.subscribe(rule, patience: forBus) } catch { throw .failed(error.name) }
        _ = try call(prompt, "Prompt", "Prompt", [.text("")])
        let isOpen = try isCompleted(prompt, min(MonotonicClock.milliseconds + patience, deadline))
        // Where the user did not answer in time, there has to be some left for the others.
        _ = try KeyringBus.patience(until: deadline)
        return isOpen
    }

    private func isCompleted(_ prompt: String, _ end: UInt64) throws(Problem) -> Bool {
        while true {
            do throws(BusFailure) {
                while MonotonicClock.milliseconds < end, let message = try bus.next(until: end) {
                    guard message.isSignal, message.sender == owner, message.path == prompt,
                        message.member == "Completed", let isDismissed = message.flag()
                    else { continue }
                    return !isDismissed
                }
            } catch { throw .unavailable(error.number) }
            let now = MonotonicClock.milliseconds
            guard now < end else { return false }
            var waiting = pollfd(fd: bus.descriptor, events: bus.events, revents: 0)
            _ = unsafe poll(&waiting, 1, Int32(clamping: end - now))
        }
    }
}
