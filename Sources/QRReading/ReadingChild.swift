#if canImport(CQRDecode)
internal import SecretMemory
internal import SystemCalls

/// The process that reads one image. It is ended with its owner.
struct ReadingChild: ~Copyable {
    private let process: pid_t
    private let socket: Int32
    private let deadline = MonotonicClock.milliseconds + UInt64(QRLimits.seconds) * 1000

    /// What it gets on its command line.
    static let word = "read-qr-codes"

    /// Its standard input and output are one socket, and it has no other descriptor but /dev/null. Of the environment
    /// it gets what the loader reads.
    init(_ program: String) throws(QRReadingError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .unreadable
        }
        let started = Spawn.start(
            program, ["holdfast", ReadingChild.word],
            environment: Spawn.environment().filter { $0.starts(with: "LD_".utf8) },
            descriptors: [(0, ends[1]), (1, ends[1]), (2, nil)], closesRest: true)
        close(ends[1])
        guard case .success(let process) = started else {
            close(ends[0])
            throw .unreadable
        }
        (self.process, socket) = (process, ends[0])
    }

    deinit {
        close(socket)
        kill(process, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
    }

    /// Gives it the image, and takes all that it says until it ends.
    /// - Throws: `unreadable` where it says too much, or is not done in time.
    borrowing func answer(to image: RawSpan) throws(QRReadingError) -> SecretBytes {
        try give(image)
        do throws(SecretMemoryError) {
            var reply = SecretBuffer(limit: QRReply.mostBytes)
            var piece = try SecretBytes(zeroed: 4096)
            while let count = piece.withMutableBytes({ receive(into: &$0) }) {
                guard count > 0 else { return try reply.bytes() }
                try piece.withBytes { bytes throws(SecretMemoryError) in try reply.append(bytes.extracting(0..<count)) }
            }
        } catch {
            if case .invalidSize = error { throw .unreadable }
            throw .memory(error)
        }
        throw .unreadable
    }

    /// One that ends early has said why.
    private borrowing func give(_ image: RawSpan) throws(QRReadingError) {
        var done = 0
        while done < image.byteCount {
            guard isReady(POLLOUT) else { throw .unreadable }
            let count = unsafe image.extracting(done..<image.byteCount).withUnsafeBytes { bytes in
                unsafe send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count >= 0 { done += count } else if errno != EINTR && errno != EAGAIN { break }
        }
        shutdown(socket, Int32(SHUT_WR))
    }

    /// - Returns: The number of bytes, 0 at the end; nil where nothing comes.
    private borrowing func receive(into bytes: inout MutableRawSpan) -> Int? {
        while isReady(POLLIN) {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            }
            if count >= 0 { return count }
            if errno != EINTR && errno != EAGAIN { break }
        }
        return nil
    }

    /// Whether it can be written to or read before the deadline.
    private borrowing func isReady(_ event: Int32) -> Bool {
        while true {
            let now = MonotonicClock.milliseconds
            guard now < deadline else { return false }
            var waiting = pollfd(fd: socket, events: Int16(event), revents: 0)
            let count = unsafe poll(&waiting, 1, Int32(deadline - now))
            if count > 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
    }
}
#endif
