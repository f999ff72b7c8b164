import Foundation
import Synchronization

/// Stands between a program and a software TPM, counts the program's commands, and does something in the middle of one:
/// a kill of the program, a power cut of the chip.
package final class TPMProxy: Sendable {
    private let chip: SoftwareTPM
    private let folder: String
    private let started: Started
    private let listeners: [Int32]
    private let state = Mutex(State())

    private struct State {
        var commands = 0
        var codes: [UInt32] = []
        var heard: [UInt8] = []
        /// When the chip got the command that it has not answered, and how long it took for all before.
        var asked: ContinuousClock.Instant?
        var working = Duration.zero
        var cut: Int?
        var isCut = false
        /// The chip gets the command, and its answer is lost.
        var losesAnswer = false
        var action: (@Sendable () -> Void)?
        var isEnded = false

        mutating func note(_ bytes: ArraySlice<UInt8>, isCommand: Bool) {
            heard += bytes
            if isCommand {
                asked = .now
            } else if let begun = asked {
                working += begun.duration(to: .now)
                asked = nil
            }
        }
    }

    package init(_ chip: SoftwareTPM) throws {
        self.chip = chip
        folder = NSTemporaryDirectory() + "holdfast-proxy-\(UUID().uuidString.prefix(8))"
        started = Started(in: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        listeners = try ["tpm.sock", "tpm.sock.ctrl"].map { [folder] in try TPMProxy.listen("\(folder)/\($0)") }
        for (index, listener) in listeners.enumerated() {
            Thread.detachNewThread { [weak self] in
                while true {
                    let client = accept(listener, nil, nil)
                    guard client >= 0, let self else { return }
                    self.serve(client, isData: index == 0)
                }
            }
        }
    }

    deinit {
        for listener in listeners {
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
        }
        started.end()
    }

    package var location: String { "swtpm:path=\(folder)/tpm.sock" }

    /// Commands since the last arming.
    package var commands: Int { state.withLock { $0.commands } }
    /// Their codes.
    package var codes: [UInt32] { state.withLock { $0.codes } }
    /// How long the chip worked on them: from the last byte of each to the first of its answer.
    package var working: Duration { state.withLock { $0.working } }
    /// Everything that was sent since then, either way.
    package var heard: [UInt8] { state.withLock { $0.heard } }
    /// Whether the action was begun; returns when it has ended.
    package var hasCut: Bool {
        while true {
            let (isCut, isEnded) = state.withLock { ($0.isCut, $0.isEnded) }
            if !isCut || isEnded { return isCut }
            usleep(1000)
        }
    }

    /// Does something when the program sends its `number`th command from now on, counted from 0, which the chip then
    /// does not get; or gets, and its answer is lost.
    package func arm(at number: Int?, losesAnswer: Bool = false, _ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.losesAnswer = losesAnswer
            state.commands = 0
            state.codes = []
            state.heard = []
            state.asked = nil
            state.working = .zero
            state.cut = number
            state.isCut = false
            state.isEnded = false
            state.action = action
        }
    }

    private static func address(_ path: String) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return address
    }

    private static func listen(_ path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = address(path)
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, Glibc.listen(descriptor, 128) == 0 else { throw Spawned.Problem("no proxy at \(path)") }
        return descriptor
    }

    private static func connect(_ path: String) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = address(path)
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if status == 0 { return descriptor }
        close(descriptor)
        return -1
    }

    private func serve(_ client: Int32, isData: Bool) {
        let chip = TPMProxy.connect(chip.folder + (isData ? "/tpm.sock" : "/tpm.sock.ctrl"))
        guard chip >= 0 else {
            close(client)
            return
        }
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 8192)
            var isCutting = false
            pump: while true {
                var waiting = [
                    pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: chip, events: Int16(POLLIN), revents: 0),
                ]
                guard unsafe poll(&waiting, 2, -1) > 0 else { break }
                for (index, other) in [(0, chip), (1, client)] where waiting[index].revents != 0 {
                    let count = unsafe read(waiting[index].fd, &buffer, buffer.count)
                    guard count > 0 else { break pump }
                    if index == 1, isCutting {
                        cut()
                        break pump
                    }
                    if isData, index == 0, mustCut(buffer[..<count]) {
                        isCutting = true
                        if !state.withLock({ $0.losesAnswer }) {
                            cut()
                            break pump
                        }
                    }
                    if isData { state.withLock { $0.note(buffer[..<count], isCommand: index == 0) } }
                    guard unsafe send(other, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break pump }
                }
            }
            close(client)
            close(chip)
            // Not before: the chip serves one connection at a time, and whoever comes next must not wait for this one.
            if isCutting { state.withLock { $0.isEnded = true } }
        }
    }

    /// - Parameter command: Tag (2), size (4), code (4), all big endian, and the rest (TPM 2.0 Library, part 1, section
    ///   18).
    private func mustCut(_ command: ArraySlice<UInt8>) -> Bool {
        state.withLock { state in
            defer { state.commands += 1 }
            state.codes.append(command.dropFirst(6).prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
            return state.cut == state.commands
        }
    }

    private func cut() {
        let action = state.withLock { state in
            state.isCut = true
            return state.action
        }
        action?()
    }
}
