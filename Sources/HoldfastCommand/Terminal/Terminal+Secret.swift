internal import Holdfast
internal import HoldfastAgent
internal import SecretMemory
internal import Synchronization
internal import SystemCalls

extension Terminal {
    /// Signals that end or stop the process and must find the echo on again.
    static let watched = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    /// Asks for one line without showing it. The echo is on again when this returns or throws, and while the process is
    /// stopped with Ctrl-Z.
    /// - Parameters:
    ///   - capacity: Bytes that the line may have.
    ///   - isShown: True where the screen it is typed on leaves nothing behind.
    /// - Throws: `interrupted` after Ctrl-C and its like; a failure for a line that is too long or an end of input.
    func readSecret(prompt: String, capacity: Int, isShown: Bool = false) throws(CommandError) -> SecretBytes {
        Terminal.asked.store(true, ordering: .relaxed)
        return try ask(prompt, capacity, isShown: isShown)
    }

    /// Whether this process has asked for a secret.
    static var hasAsked: Bool { asked.load(ordering: .relaxed) }

    private static let asked = Atomic(false)

    /// Asks for a secret that the user wants to see while they type it, and takes the line off the terminal again where
    /// that can be done.
    /// - Throws: As ``readSecret(prompt:capacity:isShown:)``.
    func readShown(prompt: String, capacity: Int) throws(CommandError) -> SecretBytes {
        let line = try readSecret(prompt: prompt, capacity: capacity, isShown: true)
        guard !SecondScreen.isDumb else { return line }
        let width = Escaping.width(prompt) + line.count
        try write("\u{1B}[\(width / max(1, columns) + 1)A\r\u{1B}[J")
        try write(prompt + "\(line.count) characters\n")
        return line
    }

    /// Asks for one line that is no secret and is shown.
    /// - Throws: As ``readSecret(prompt:capacity:)``.
    func readAnswer(prompt: String) throws(CommandError) -> String {
        let line = try ask(prompt, 256, isShown: true)
        return line.withBytes { line in
            String(decoding: (0..<line.byteCount).map { line.byte(at: $0) }, as: UTF8.self)
        }
    }

    private func ask(_ prompt: String, _ capacity: Int, isShown: Bool) throws(CommandError) -> SecretBytes {
        let watch = try SignalWatch(Terminal.watched)
        try refuseReaders()
        let result: SecretBytes
        do throws(CommandError) {
            let echo = try Echo(descriptor, isShown: isShown)
            defer { echo.restore() }
            try write(prompt)
            result = try readLine(capacity, echo, watch, prompt)
        } catch {
            try? write("\n")
            throw error
        }
        if !isShown { try write("\n") }
        while let signal = watch.next() {
            if signal != SIGTSTP { throw .interrupted }
        }
        return result
    }

    private func readLine(
        _ capacity: Int, _ echo: Echo, _ watch: borrowing SignalWatch, _ prompt: String
    ) throws(CommandError) -> SecretBytes {
        // One byte more shows that a line is too long, another is for its end.
        var line = try secret(capacity + 2)
        var count = 0
        while true {
            try wait(echo, watch, prompt)
            guard let got = try readPiece(&line, from: count) else { continue }
            count += got
            let isEnded = line.withBytes { count > 0 && $0.byte(at: count - 1) == UInt8(ascii: "\n") }
            if isEnded { count -= 1 }
            guard count <= capacity else {
                tcflush(descriptor, TCIFLUSH)
                throw .failure(.tooLong, "the input is longer than \(capacity) bytes")
            }
            if isEnded { break }
            guard got > 0 else { throw .failure(.cancelled, "nothing was entered") }
        }
        do throws(SecretMemoryError) { return try line.copy(0..<count) } catch { throw CommandError(error) }
    }

    /// What is typed may be for another program that reads here too: in `holdfast get x | ssh host` ssh may ask for its
    /// own password at this very time, and send its host what was meant for the vault.
    private func refuseReaders() throws(CommandError) {
        guard TerminalReaders.areThere(besides: getpid(), andThoseNamed: AgentCommand.processName) else { return }
        tcflush(descriptor, TCIFLUSH)
        throw CommandError(
            .failure, code: .input, TerminalReaders.words, advice: "run this by itself, or holdfast unlock before it")
    }

    /// Milliseconds from one look for other readers to the next.
    private static let readersInterval: Int32 = 200

    /// Returns when there is something to read; acts on signals.
    /// - Throws: `input` where another program could read it.
    func wait(_ echo: Echo, _ watch: borrowing SignalWatch, _ prompt: String) throws(CommandError) {
        var waiting = [
            pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let ready = unsafe poll(&waiting, 2, Terminal.readersInterval)
            while let signal = watch.next() {
                guard signal == SIGTSTP else { throw .interrupted }
                echo.release()
                if isOnSecondScreen { try write(SecondScreen.leave) }
                watch.stop()
                if isOnSecondScreen { try write(SecondScreen.enter) }
                try echo.turnOff()
                try write(prompt)
            }
            try refuseReaders()
            if ready > 0, waiting[1].revents != 0 { return }
        }
    }

    /// Reads part of a line; nil when it has gone, as after Ctrl-Z.
    private func readPiece(_ line: inout SecretBytes, from start: Int) throws(CommandError) -> Int? {
        let got = line.withMutableBytes { line in
            unsafe line.withUnsafeMutableBytes { line in
                unsafe read(descriptor, line.baseAddress.map { unsafe $0 + start }, line.count - start)
            }
        }
        if got >= 0 { return got }
        let number = errno
        if number == EAGAIN || number == EINTR { return nil }
        throw .failure(.input, "reading from the terminal: \(SystemError(number))")
    }
}

/// A terminal's settings without echo, and those to go back to.
struct Echo {
    private let descriptor: Int32
    private let original: termios
    private let isShown: Bool
    private let isByLine: Bool

    /// - Parameter isByLine: Whether the terminal hands over whole lines, which it cuts at 4,096 bytes.
    init(_ descriptor: Int32, isShown: Bool, isByLine: Bool = true) throws(CommandError) {
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else {
            throw .failure(.input, "the terminal's settings: \(SystemError.last)")
        }
        // As in ``Silence``: what is typed goes to libsodium's memory.
        CLibraries.load()
        self.descriptor = descriptor
        original = settings
        self.isShown = isShown
        self.isByLine = isByLine
        try turnOff()
    }

    /// Drops what was typed before the prompt: it may have been meant for something else.
    func turnOff() throws(CommandError) {
        var silent = original
        let flags = tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
        // In a silence, what is asked for openly is shown too.
        if isShown {
            silent.c_lflag |= (Silence.original ?? original).c_lflag & flags
        } else {
            silent.c_lflag &= ~flags
        }
        silent.c_lflag |= tcflag_t(ICANON | ISIG)
        if !isByLine {
            silent.c_lflag &= ~tcflag_t(ICANON)
            unsafe withUnsafeMutableBytes(of: &silent.c_cc) { characters in
                unsafe characters[Int(VMIN)] = 1
                unsafe characters[Int(VTIME)] = 0
            }
        }
        guard Echo.set(silent, descriptor, TCSAFLUSH) else {
            throw .failure(.input, "the terminal's echo cannot be turned off: \(SystemError.last)")
        }
    }

    func restore() { _ = Echo.set(original, descriptor, TCSANOW) }

    /// For as long as the process is stopped: the terminal is the shell's.
    func release() { _ = Echo.set(Silence.original ?? original, descriptor, TCSANOW) }

    private static func set(_ settings: termios, _ descriptor: Int32, _ when: Int32) -> Bool {
        var settings = settings
        while unsafe tcsetattr(descriptor, when, &settings) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }
}

/// Locked memory for input.
func secret(_ count: Int) throws(CommandError) -> SecretBytes {
    do throws(SecretMemoryError) { return try SecretBytes(zeroed: count) } catch { throw CommandError(error) }
}

extension SecretBytes {
    /// A copy of the first bytes, the size that a secret really has.
    borrowing func prefix(_ count: Int) throws(CommandError) -> SecretBytes {
        do throws(SecretMemoryError) { return try copy(0..<count) } catch { throw CommandError(error) }
    }
}

extension RawSpan {
    /// One byte; an offset outside is our own mistake and traps.
    package func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
