internal import Cryptography
package import VaultFormat
package import VaultStorage

/// Which items an unlock takes: those that an earlier one did not, oldest first, and not too many.
package struct OpenChoice {
    /// Sequence numbers of what is taken.
    package let range: ClosedRange<UInt64>
    /// What is written down with them; nil when there is nothing to take.
    package let mark: OpenMark?
    package let known: Int
    package let left: Int

    package init(_ entries: [OpenContents.Entry], after former: OpenMark?, most: OpenQuota) {
        let entries = entries.sorted { $0.sequence < $1.sequence }
        var known = former.map { mark in entries.prefix { $0.sequence <= mark.sequence }.count } ?? 0
        // The same numbers may be of other items: of a compartment that was begun anew, or put back to an older state.
        // Then everything is taken, perhaps a second time, and nothing is lost.
        if let former, OpenChoice.sum(entries[..<known]) != former.sum { known = 0 }
        var (bytes, end) = (0, known)
        while end < entries.count, end == known || end - known < most.items && bytes < most.bytes {
            bytes += entries[end].size
            end += 1
        }
        // Our writers never repeat a sequence number; they are taken together.
        while end > known, end < entries.count, entries[end].sequence == entries[end - 1].sequence { end += 1 }
        self.known = known
        left = entries.count - end
        guard end > known else {
            range = 0...0
            mark = nil
            return
        }
        range = entries[known].sequence...entries[end - 1].sequence
        mark = OpenMark(sequence: entries[end - 1].sequence, sum: OpenChoice.sum(entries[..<end]))
    }

    private static func sum(_ entries: ArraySlice<OpenContents.Entry>) -> Sum256 {
        var sum = Sum256()
        for entry in entries { sum.add(entry.term) }
        return sum
    }
}

/// What an item is called in the inbox.
package enum InboxName {
    /// The name itself, then with a number, then with something random, so that an attacker cannot make this loop long.
    package static func candidate(_ name: String, _ attempt: Int) throws(VaultError) -> String {
        if attempt == 1 { return name }
        if attempt < 10 { return cut(name, with: " (\(attempt))") }
        let random = try crypto(SecureRandom.bytes(8))
        return cut(name, with: " (\(Hexadecimal.encode(random)))")
    }

    /// The label keeps the whole name; what it is called here must fit.
    private static func cut(_ name: String, with suffix: String) -> String {
        var name = name[...]
        while name.utf8.count + suffix.utf8.count > RecordName.maximumNameSize { name.removeLast() }
        return name + suffix
    }
}
