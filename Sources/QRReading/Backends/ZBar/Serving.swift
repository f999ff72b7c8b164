#if canImport(CQRDecode)
internal import CQRDecode
internal import Synchronization
internal import SystemCalls

extension QRReading {
    /// Whether this program reads images when it is started for that.
    private static let served = Atomic<Bool>(false)

    static var isServed: Bool { served.load(ordering: .relaxed) }

    /// What a program calls before it does anything else: reads one image, if it was started for that.
    /// - Returns: The exit code; nil for a program that was started for what it is.
    package static func serve() -> Int32? {
        served.store(true, ordering: .relaxed)
        guard CommandLine.argc == 2, let word = unsafe CommandLine.unsafeArgv[1],
            unsafe strcmp(word, ReadingChild.word) == 0
        else { return nil }
        let reply = QRReading.reply()
        return unsafe reply.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = unsafe write(STDOUT_FILENO, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done)
                if count < 0 && errno != EINTR { return 1 }
                done += max(0, count)
            }
            return 0
        }
    }

    /// This process ends with its one image, which is why nothing here is given back.
    private static func reply() -> [UInt8] {
        guard let image = Pages(QRLimits.file + 1), let count = image.fill(from: STDIN_FILENO) else {
            return [QRReply.unreadable.rawValue]
        }
        guard count <= QRLimits.file else { return [QRReply.tooLarge.rawValue] }
        let file = unsafe UnsafeRawBufferPointer(start: image.start, count: count)
        guard let kind = unsafe ImageKind(RawSpan(_unsafeBytes: file)) else { return [QRReply.unreadable.rawValue] }
        do throws(QRReadingError) {
            let decoder = try ImageDecoder(kind)
            let scanner = try CodeScanner()
            guard cqrdecode_confine(QRLimits.memory, UInt32(QRLimits.seconds)) != 0 else { throw .unreadable }
            return try scanner.texts(in: unsafe decoder.pixels(of: file))
        } catch {
            switch error {
            case .missing(let library): return [QRReply(missing: library).rawValue]
            case .tooLarge: return [QRReply.tooLarge.rawValue]
            case .notAnImage, .unreadable, .noCode, .unavailable, .memory: return [QRReply.unreadable.rawValue]
            }
        }
    }
}

/// Memory of this process alone, in no core file. It is locked as far as the system lends such memory (usually 8 MiB):
/// a larger image is read, too.
@safe struct Pages {
    let start: UnsafeMutableRawPointer
    let size: Int

    init?(_ size: Int) {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let start = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, flags, -1, 0), unsafe start != MAP_FAILED
        else {
            return nil
        }
        unsafe madvise(start, size, MADV_DONTDUMP)
        unsafe self.start = start
        self.size = size
    }

    /// Keeps the first bytes out of swap, where the system lends that.
    func lock(_ count: Int) { unsafe mlock(start, count) }

    /// Reads to the end, or until it is full.
    /// - Returns: The number of bytes; nil for an error.
    func fill(from descriptor: Int32) -> Int? {
        var done = 0
        while done < size {
            let count = unsafe read(descriptor, start + done, size - done)
            if count == 0 { break }
            guard count > 0 || errno == EINTR else { return nil }
            done += max(0, count)
        }
        lock(done)
        return done
    }
}
#endif
