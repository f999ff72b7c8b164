internal import Holdfast
internal import SecretMemory
internal import SystemCalls

/// What another program says on standard input.
enum StandardInput {
    /// All of it, up to one byte more than a limit, so that its reader sees what is too long.
    static func read(atMost limit: Int) throws(CommandError) -> SecretBytes {
        var buffer = try secret(limit + 1)
        var size = 0
        while size < buffer.count {
            let got = try buffer.withMutableBytes { bytes throws(CommandError) in
                try bytes.withPart(size..<bytes.byteCount) { part throws(CommandError) in
                    try Descriptors.read(STDIN_FILENO, into: &part)
                }
            }
            if got == 0 { break }
            size += got
        }
        return try buffer.prefix(size)
    }
}
