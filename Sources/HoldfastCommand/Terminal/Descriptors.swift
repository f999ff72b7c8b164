internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

/// File descriptors that came with the process.
package enum Descriptors {
    /// Fills a missing standard descriptor with one that refuses its use. Else the next file that is opened, the
    /// vault's own perhaps, would get its number, and what is written to standard output would go there.
    static func fillStandardOnes() {
        for (descriptor, refusing) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where !isOpen(descriptor) {
            _ = unsafe open("/dev/null", refusing)  // the lowest free number is this one
        }
    }

    static func isOpen(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) != -1 }

    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Bytes of the file behind a descriptor from where it stands; nil when it is no ordinary file.
    static func remainingSize(_ descriptor: Int32) -> UInt64? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let position = lseek(descriptor, 0, SEEK_CUR)
        return position >= 0 && status.st_size >= position ? UInt64(status.st_size - position) : nil
    }

    /// Reads what is there, at least one byte; 0 at the end.
    /// - Throws: A failure with the system's words.
    package static func read(_ descriptor: Int32, into bytes: inout MutableRawSpan) throws(CommandError) -> Int {
        while true {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe SystemCalls.read(descriptor, buffer.baseAddress, buffer.count)
            }
            if got >= 0 { return got }
            switch errno {
            case EINTR: continue
            case EAGAIN: wait(for: descriptor, POLLIN)
            case let number:
                throw .failure(.input, "reading from \(name(descriptor, "standard input")): \(SystemError(number))")
            }
        }
    }

    /// Writes everything.
    /// - Throws: A failure with the system's words; some of it may have been written.
    package static func write(_ bytes: RawSpan, to descriptor: Int32) throws(CommandError) {
        let failed: Int32? = unsafe bytes.withUnsafeBytes { unsafe writeAll($0, to: descriptor) }
        guard let number = failed else { return }
        let target = name(descriptor, "standard output")
        if number == EPIPE {
            throw CommandError(
                .readerGone, code: .readerGone, "\(target): the reader went away before everything was written")
        }
        throw .failure(.output, "writing to \(target): \(SystemError(number))")
    }

    /// The `errno` that stopped it; nil when everything was written.
    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
        guard let base = bytes.baseAddress else { return nil }
        var done = 0
        while done < bytes.count {
            let written = unsafe SystemCalls.write(descriptor, base + done, bytes.count - done)
            if written >= 0 {
                done += written
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: wait(for: descriptor, POLLOUT)
            case let number: return number
            }
        }
        return nil
    }

    /// Waits until there is something to read, or the end.
    /// - Throws: `timedOut` at the deadline, milliseconds of the monotonic clock.
    static func await(_ descriptor: Int32, until deadline: UInt64) throws(CommandError) {
        while true {
            let now = MonotonicClock.milliseconds
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = Int32(clamping: deadline > now ? deadline - now : 0)
            switch unsafe poll(&waiting, 1, left) {
            case 1...: return
            case 0: throw .failure(.timedOut, "nothing came in time")
            default: guard errno == EINTR else { return }  // reading says what is wrong
            }
        }
    }

    /// For descriptors that are non-blocking.
    private static func wait(for descriptor: Int32, _ events: Int32) {
        var wanted = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        unsafe poll(&wanted, 1, -1)
    }

    private static func name(_ descriptor: Int32, _ standard: String) -> String {
        descriptor <= STDOUT_FILENO ? standard : "file descriptor \(descriptor)"
    }
}

extension Descriptors {
    /// Checks every descriptor that was named, before any file is opened that could get its number: a phrase must not
    /// be written into the vault's own files because a shell redirection was forgotten.
    /// - Throws: A usage error.
    static func check(_ arguments: Arguments, of command: CommandSyntax) throws(CommandError) {
        for option in command.options where option.kind == .descriptor {
            guard let descriptor = arguments.descriptor(option) else { continue }
            let isWritten = [
                Options.phraseOutDescriptor.option, Options.keyOutDescriptor.option, Options.codeOutDescriptor.option,
                Options.recoveryOutDescriptor.option,
            ].contains(option)
            let flags = fcntl(descriptor, F_GETFL)
            let refused = isWritten ? O_RDONLY : O_WRONLY
            guard flags != -1, flags & O_ACCMODE != refused else {
                let use = isWritten ? "writing" : "reading"
                throw .usage("\(option.spelled) \(descriptor): this descriptor is not open for \(use)")
            }
            guard isWritten || !isTerminal(descriptor) else {
                throw .usage(
                    "\(option.spelled) \(descriptor): this is a terminal and would show what is typed; omit the option"
                )
            }
        }
        guard !arguments[Options.phrase] || arguments[Options.phraseDescriptor] == nil else {
            throw .usage("--phrase asks on the terminal and --phrase-fd does not; use only one of them")
        }
    }
}
