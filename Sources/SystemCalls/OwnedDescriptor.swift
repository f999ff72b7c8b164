/// A file descriptor that is closed with its owner. The calls repeat what a signal interrupts.
package struct OwnedDescriptor: ~Copyable, Sendable {
    package let number: Int32

    /// - Parameter number: An open descriptor, which nobody else closes.
    package init(owning number: Int32) { self.number = number }

    /// Opens a file.
    /// - Parameters:
    ///   - flags: As for `open`; it is closed in programs that this one starts.
    ///   - mode: The access rights of a file that is made.
    package init(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws(SystemError) {
        number = try uninterrupted { unsafe open(path, flags | O_CLOEXEC, mode) }
    }

    deinit { _ = close(number) }

    /// What `fstat` tells.
    package func status() throws(SystemError) -> stat {
        var status = stat()
        try uninterrupted { unsafe fstat(number, &status) }
        return status
    }

    /// Reads what is there, at most as much as fits.
    /// - Returns: The number of bytes; 0 at the end.
    package func read(into bytes: inout MutableRawSpan) throws(SystemError) -> Int {
        let number = number
        return try unsafe bytes.withUnsafeMutableBytes { buffer throws(SystemError) in
            try uninterrupted { unsafe SystemCalls.read(number, buffer.baseAddress, buffer.count) }
        }
    }

    /// Reads what is at a place of a file, at most as much as fits.
    /// - Returns: The number of bytes; fewer than fit only at the end.
    package func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(SystemError) -> Int {
        let number = number
        return try unsafe bytes.withUnsafeMutableBytes { buffer throws(SystemError) in
            var count = 0
            while count < buffer.count {
                let got = try uninterrupted {
                    unsafe pread(
                        number, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count,
                        off_t(clamping: offset) + off_t(count))
                }
                if got == 0 { break }
                count += got
            }
            return count
        }
    }

    /// Reads to the end, but no more than so many bytes.
    package func readPrefix(_ most: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: most)
        var count = 0
        while count < most {
            let got = try uninterrupted {
                unsafe bytes.withUnsafeMutableBytes { buffer in
                    unsafe SystemCalls.read(number, buffer.baseAddress.map { unsafe $0 + count }, most - count)
                }
            }
            if got == 0 { break }
            count += got
        }
        return Array(bytes[..<count])
    }

    /// Reads to the end.
    /// - Returns: Nil when there are more than `limit` bytes.
    package func readAll(limit: Int) throws(SystemError) -> [UInt8]? {
        // One byte more than allowed shows that there are too many.
        let bytes = try readPrefix(limit + 1)
        return bytes.count > limit ? nil : bytes
    }

    /// Writes all of the bytes.
    package func write(_ bytes: RawSpan) throws(SystemError) {
        let number = number
        try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
            var done = 0
            while done < buffer.count {
                done += try uninterrupted {
                    unsafe SystemCalls.write(number, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done)
                }
            }
        }
    }

    /// Returns when the contents are on the disk, or at least with the disk (`fsync`).
    package func synchronize() throws(SystemError) {
        let number = number
        try uninterrupted { fsync(number) }
    }
}

extension stat {
    /// Whether both are of one file, under whatever names.
    package func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }
}
