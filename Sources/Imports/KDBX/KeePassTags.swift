internal import Items
internal import SecretMemory
internal import VaultFormat

/// The tags that a text has, with commas or semicolons between. At most 1,000, more than any item can take: a long text
/// does not become millions.
struct KeePassTags {
    private(set) var all: [String] = []
    /// Whether the text has more, or what is too long to be a tag.
    private(set) var isCut = false

    private static let most = 1000, longest = 4096

    init(_ node: XMLNode?) {
        node?.text?.withBytes { text in read(text) }
    }

    init(_ text: String) {
        unsafe read(Array(text.utf8).span.bytes)
    }

    private mutating func read(_ text: RawSpan) {
        var start = 0
        for position in 0...text.byteCount {
            guard position == text.byteCount || [0x2C, 0x3B].contains(text[position]) else { continue }
            let range = start..<position
            start = position + 1
            guard range.count <= KeePassTags.longest else {
                isCut = true
                continue
            }
            let tag = text.openText(range).split(separator: " ").joined(separator: " ")
            guard !tag.isEmpty else { continue }
            guard all.count < KeePassTags.most else {
                isCut = true
                return
            }
            all.append(tag)
        }
    }

    /// Takes those of the groups around, as many as an item can have.
    mutating func add(_ others: [String]) {
        var known: Set<String> = []
        let each = (others + all).filter { known.insert($0).inserted }
        isCut = isCut || each.count > ItemLimits.tags
        all = Array(each.prefix(ItemLimits.tags))
    }
}
