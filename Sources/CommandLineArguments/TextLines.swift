extension String {
    /// The lines of a file. A newline behind a carriage return is no Character of its own, so that a split of
    /// Characters would take the next line for a part of this one.
    package var lines: [Substring] {
        utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            Substring(line.last == 0x0D ? line.dropLast() : line)
        }
    }
}
