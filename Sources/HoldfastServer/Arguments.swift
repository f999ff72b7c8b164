internal import BetterAuthServer
internal import CommandLineArguments

extension Arguments {
    /// The value, or with `@FILE` the first line of a file: a password does not belong on a command line, where every
    /// process of the machine reads it. `@/dev/fd/N` is a descriptor.
    /// - Throws: Also for a URL with a password in it; it is not repeated.
    func perhapsFromFile(_ option: TextOption) throws(UsageError) -> SecretText? {
        guard let value = self[option] else { return nil }
        guard value.hasPrefix("@") else {
            guard !Arguments.hasPassword(Array(value.utf8)) else {
                throw UsageError(
                    "\(option.option.spelled): this URL contains a password, which every process can read there; "
                        + "write the URL into a file and pass @FILE")
            }
            return try TextFile.secret(value)
        }
        return try TextFile.firstLine(String(value.dropFirst()), withSecret: Arguments.hasPassword)
    }

    /// `scheme://user:password@…`, or `scheme://…?password=…`.
    static func hasPassword(_ text: [UInt8]) -> Bool {
        guard let scheme = text.firstRange(of: Array("://".utf8)) else { return false }
        // Letters in one case, and every other byte as something that is in no word.
        let sign = Array("PASSWORD=".utf8)
        let isNamed = text.indices.contains { start in
            text[start...].count >= sign.count && zip(text[start...], sign).allSatisfy { $0 == $1 || $0 == $1 | 0x20 }
        }
        if isNamed { return true }
        // A password may have any character: what comes before the last sign may be one.
        let rest = text[scheme.upperBound...]
        guard let at = rest.lastIndex(of: UInt8(ascii: "@")), let colon = rest.firstIndex(of: UInt8(ascii: ":")) else {
            return false
        }
        return colon < at
    }
}
