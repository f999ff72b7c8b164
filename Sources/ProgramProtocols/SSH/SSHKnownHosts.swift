/// The names of hosts in files of their keys (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
package enum SSHKnownHosts {
    /// Bytes of such a file that are read, at most.
    package static let longest = 1 << 20
    /// Names that are looked at, at most, and bytes of one.
    private static let most = 64, longestName = 1_024

    /// A name of a host, or a pattern of its names.
    package enum Name: Sendable, Hashable {
        case text(String)
        /// The name is hidden in a hash, `|1|SALT|HASH`.
        case hashed(salt: String, hash: String)
    }

    /// The names that a file has for a key. Lines that revoke, or name an authority, are not for one host.
    /// - Parameter key: In base 64.
    package static func names(of key: String, in file: [UInt8]) -> [Name] {
        let key = Array(key.utf8)
        var names: [Name] = []
        for line in file.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(maxSplits: 3) { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            guard words.count >= 3, words[2].elementsEqual(key), let first = words[0].first,
                first != UInt8(ascii: "#"), first != UInt8(ascii: "@")
            else { continue }
            for word in words[0].split(separator: UInt8(ascii: ",")) where word.count <= longestName {
                guard names.count < most else { return names }
                if let name = name(word) { names.append(name) }
            }
        }
        return names
    }

    private static func name(_ word: ArraySlice<UInt8>) -> Name? {
        guard let text = String(validating: word, as: UTF8.self) else { return nil }
        guard word.first == UInt8(ascii: "|") else {
            return word.first == UInt8(ascii: "!") ? nil : .text(text.lowercased())
        }
        let parts = text.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[1] == "1" else { return nil }
        return .hashed(salt: String(parts[2]), hash: String(parts[3]))
    }
}

/// For which hosts a key is: patterns as after `Host` in ssh_config(5), between blanks or commas. A user's name before
/// an at sign says nothing here: a host is known before the user is.
package struct SSHHostPatterns: Sendable, Hashable {
    /// Patterns, at most. Text that has more is for every host, as if it were not there.
    private static let most = 64

    private let wanted: [String]
    private let unwanted: [String]

    /// Nil for a text without a pattern.
    package init?(_ text: String) {
        let words = text.lowercased().split { $0.isWhitespace || $0 == "," }
        guard !words.isEmpty, words.count <= SSHHostPatterns.most else { return nil }
        func host(_ word: Substring) -> String { String(word.split(separator: "@").last ?? "") }
        func isUnwanted(_ word: Substring) -> Bool { word.utf8.first == UInt8(ascii: "!") }
        wanted = words.filter { !isUnwanted($0) }.map(host)
        unwanted = words.filter(isUnwanted).map { host($0.dropFirst()) }
    }

    package enum Answer: Sendable, Hashable {
        case yes, no
        /// The host's names are hidden, and a pattern may be for one of them.
        case perhaps
    }

    /// Whether a host with these names is meant.
    /// - Parameter isName: Whether a text is the name that a hash hides.
    package func answer(
        _ names: [SSHKnownHosts.Name], isName: (_ text: String, _ salt: String, _ hash: String) -> Bool
    ) -> Answer {
        func meets(_ pattern: String) -> Bool {
            names.contains { name in
                switch name {
                case .text(let text):
                    return SSHHostPatterns.spellings(text).contains { spelling in
                        let (name, pattern) = (Array(spelling.utf8), Array(pattern.utf8))
                        return SSHDestination.matches(name, pattern) || SSHDestination.matches(pattern, name)
                    }
                case .hashed(let salt, let hash): return isName(pattern, salt, hash)
                }
            }
        }
        if unwanted.contains(where: meets) { return .no }
        if wanted.contains(where: meets) { return .yes }
        let isHidden = names.contains { if case .hashed = $0 { true } else { false } }
        return isHidden && (wanted + unwanted).contains { $0.contains { $0 == "*" || $0 == "?" } } ? .perhaps : .no
    }

    /// A name with a port is `[name]:port`, and also its name alone.
    private static func spellings(_ name: String) -> [String] {
        guard name.utf8.first == UInt8(ascii: "["), let end = name.firstIndex(of: "]") else { return [name] }
        return [name, String(name[name.index(after: name.startIndex)..<end])]
    }
}
