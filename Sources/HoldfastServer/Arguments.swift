internal import CommandLineArguments

extension Arguments {
    /// The value, or with `@FILE` the first line of a file: a password does not belong on a command line, where every
    /// process of the machine reads it.
    /// - Throws: Also for a URL with a password in it; it is not repeated.
    func perhapsFromFile(_ option: TextOption) throws(UsageError) -> String? {
        guard let value = self[option] else { return nil }
        guard value.hasPrefix("@") else {
            guard !Arguments.hasPassword(value) else {
                throw UsageError(
                    "\(option.option.spelled): this URL contains a password, which every process can read there; "
                        + "write the URL into a file and pass @FILE")
            }
            return value
        }
        let contents = try TextFile.read(String(value.dropFirst()))
        return String(contents.prefix { $0 != "\n" })
    }

    /// `scheme://user:password@…`, or `scheme://…?password=…`.
    static func hasPassword(_ text: String) -> Bool {
        guard let scheme = text.firstRange(of: "://") else { return false }
        if text.lowercased().contains("password=") { return true }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        guard let at = authority.lastIndex(of: "@"), let colon = authority.firstIndex(of: ":") else { return false }
        return colon < at
    }
}
