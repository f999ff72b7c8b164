internal import BetterAuthMessages
internal import CommandLineArguments

/// The keys of servers that a key chain has endorsed so far. Those that a generation had endorsed when it was tainted
/// may be in the wrong hands: no later generation endorses them, whichever server still has them and asks.
///
/// The file has a line for each: the key, a space, and `endorsed` or `tainted`.
struct EndorsedKeys {
    private enum Standing: String { case endorsed = "endorsed", tainted = "tainted" }

    /// Keys that are remembered. With another pair each hour it is full after 3.7 years.
    private static let most = 65_536
    private static let largest = most * (PublicKeyText.textSize + " endorsed\n".utf8.count)

    private let path: String
    private var standings: [PublicKeyText: Standing] = [:]

    /// - Throws: ``UsageError`` for a file that is not one of these.
    init(_ path: String, isThere: Bool) throws(UsageError) {
        self.path = path
        guard isThere else { return }
        for line in try TextFile.read(path, most: EndorsedKeys.largest).split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 2, let key = PublicKeyText(words[0]), let standing = Standing(rawValue: "\(words[1])")
            else { throw UsageError("\(path) is damaged; put a copy of it back") }
            standings[key] = standing
        }
    }

    /// Writes the file, also for a chain that has endorsed none.
    mutating func keep() throws(UsageError) { try save(standings) }

    /// Keys that can be remembered still.
    var room: Int { EndorsedKeys.most - standings.count }

    func isTainted(_ key: PublicKeyText) -> Bool { standings[key] == .tainted }

    /// Remembers a key before it is endorsed.
    mutating func remember(_ key: PublicKeyText) throws(UsageError) {
        guard standings[key] == nil else { return }
        guard standings.count < EndorsedKeys.most else {
            throw UsageError("\(path) is full: begin another key chain, or remove lines of keys that no server has")
        }
        var changed = standings
        changed[key] = .endorsed
        try save(changed)
    }

    /// Endorses none of them ever again.
    /// - Parameter kept: Those that are in nobody's hands but the servers'.
    mutating func taint(except kept: Set<PublicKeyText>) throws(UsageError) {
        var changed = standings
        for key in changed.keys where !kept.contains(key) { changed[key] = .tainted }
        try save(changed)
    }

    private mutating func save(_ changed: [PublicKeyText: Standing]) throws(UsageError) {
        let lines = changed.map { "\($0.key) \($0.value.rawValue)\n" }.sorted()
        try TextFile.replace(path, Array(lines.joined().utf8), most: EndorsedKeys.largest)
        standings = changed
    }
}
