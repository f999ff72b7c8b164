internal import Holdfast
internal import SecretMemory
internal import SystemCalls

extension Terminal {
    /// How much of a value is asked for.
    enum Extent {
        /// One line, ended with Enter.
        case line
        /// Any number of lines, ended with Ctrl-D.
        case lines
    }

    /// Asks for a value without showing it, of any length up to a limit: the terminal hands over each byte, because by
    /// itself it cuts a line at 4,096. Backspace takes back a character and Ctrl-U a line.
    /// - Throws: `interrupted`; `cancelled` for an end of input; `tooLong`; `controlCharacter`, since nobody sees what
    ///   an arrow key wrote.
    func readValue(prompt: String, _ extent: Extent, limit: Int) throws(CommandError) -> SecretBytes {
        let watch = try SignalWatch(Terminal.watched)
        let value: SecretBytes
        do throws(CommandError) {
            let echo = try Echo(descriptor, isShown: false, isByLine: false)
            defer { echo.restore() }
            try write(prompt)
            value = try readValue(extent, limit, echo, watch, prompt)
        } catch {
            tcflush(descriptor, TCIFLUSH)
            try? write("\n")
            throw error
        }
        try write("\n")
        while let signal = watch.next() {
            if signal != SIGTSTP { throw .interrupted }
        }
        return value
    }

    private func readValue(
        _ extent: Extent, _ limit: Int, _ echo: Echo, _ watch: borrowing SignalWatch, _ prompt: String
    ) throws(CommandError) -> SecretBytes {
        var value = SecretBuffer(limit: limit)
        var piece = try secret(4096)
        while true {
            try wait(echo, watch, prompt)
            let got = try piece.withMutableBytes { bytes throws(CommandError) in
                try Descriptors.read(descriptor, into: &bytes)
            }
            guard got > 0 else { throw .failure(.cancelled, "nothing was entered") }
            let isEnded = try piece.withBytes { bytes throws(CommandError) in
                try append(bytes.extracting(0..<got), into: &value, extent)
            }
            guard isEnded else { continue }
            do throws(SecretMemoryError) { return try value.bytes() } catch { throw CommandError(error) }
        }
    }

    /// - Returns: Whether the value is complete.
    private func append(_ typed: RawSpan, into value: inout SecretBuffer, _ extent: Extent) throws(CommandError) -> Bool
    {
        for offset in 0..<typed.byteCount {
            let byte = typed.byte(at: offset)
            switch byte {
            case 0x04:
                guard extent == .lines || value.count > 0 else { throw .failure(.cancelled, "nothing was entered") }
                return true
            case UInt8(ascii: "\n") where extent == .line:
                guard offset == typed.byteCount - 1 else {
                    throw .failure(.tooLong, "this is more than one line; nothing was stored")
                }
                return true
            case 0x7F, 0x08: value.removeLast(value.lastCharacter)
            case 0x15: value.removeLast(value.lastLine)
            case UInt8(ascii: "\n"), UInt8(ascii: "\t"), 0x20...0xFF:
                do throws(SecretMemoryError) { try value.append(byte) } catch {
                    if case .invalidSize = error {
                        throw .failure(.tooLong, "the input is longer than \(value.limit) bytes")
                    }
                    throw CommandError(error)
                }
            default:
                throw .failure(
                    .controlCharacter, "a control character was entered, perhaps by an arrow key; nothing was stored")
            }
        }
        return false
    }
}

extension SecretBuffer {
    /// Bytes of the last character.
    fileprivate var lastCharacter: Int {
        withBytes { bytes in
            var size = min(1, bytes.byteCount)
            while size < bytes.byteCount, bytes.byte(at: bytes.byteCount - size) & 0xC0 == 0x80 { size += 1 }
            return size
        }
    }

    /// Bytes behind the last line's end; one where there are none.
    fileprivate var lastLine: Int {
        withBytes { bytes in
            var size = 0
            while size < bytes.byteCount, bytes.byte(at: bytes.byteCount - size - 1) != UInt8(ascii: "\n") { size += 1 }
            return max(1, size)
        }
    }
}
