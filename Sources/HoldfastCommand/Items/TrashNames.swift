internal import AgentMessages
internal import Holdfast
internal import Items

/// How what is in the trash is written: of several of one name the older ones have a number, by which they are
/// restored.
struct TrashNames {
    /// Each once.
    private(set) var written: [String]
    private let entries: [EntryPath]
    private let numbers: [Int]
    private let names: EntryNames

    /// - Parameter trash: The latest first.
    init(_ trash: [TrashEntry]) {
        self.init(trash.map(\.entry))
    }

    init(_ entries: [EntryPath]) {
        self.entries = entries
        names = EntryNames(Set(entries))
        var count: [EntryPath: Int] = [:]
        numbers = entries.map { entry in
            count[entry, default: 0] += 1
            return count[entry] ?? 1
        }
        let plain = names.written(entries)
        written = zip(plain, numbers).map { TrashNames.numbered($0, $1) }
        let taken = Set(zip(written, numbers).filter { $1 > 1 }.map(\.0))
        // A name that ends like a number of another one says its number sign by its own number.
        for (index, name) in plain.enumerated() where taken.contains(name) {
            written[index] = TrashNames.numbered(name.replacing("#", with: "\\u{23}"), numbers[index])
        }
    }

    private static func numbered(_ name: String, _ number: Int) -> String { number > 1 ? "\(name)#\(number)" : name }

    /// What a text means, and behind it what is older of the same name; exactly what is written so, or else what has
    /// that name.
    /// - Parameter takesNumber: Whether a number may stand behind the name: not where something goes for good.
    func meant(by text: String, takesNumber: Bool) -> [Int] {
        var (place, first): (EntryPath?, Int) = (nil, 1)
        if let index = written.firstIndex(where: { $0.utf8.elementsEqual(text.utf8) }) {
            (place, first) = (entries[index], numbers[index])
            if first > 1, !takesNumber { return [] }
        } else if let whole = names.entry(text) {
            place = whole
        } else if takesNumber, let sign = text.lastIndex(of: "#"), let number = Int(text[text.index(after: sign)...]),
            number > 0
        {
            (place, first) = (names.entry(String(text[..<sign])), number)
        }
        return entries.indices.filter { entries[$0] == place && numbers[$0] >= first }
    }
}
