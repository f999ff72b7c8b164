internal import Items

/// Names as a tree of folders. An entry and a folder of one name are two lines; an address with slashes is one.
struct NameTree {
    private struct Node {
        var folders: [(name: String, node: Node)] = []
        var entries: [String] = []
    }

    private var root = Node()

    /// - Parameter entries: Each with its name as it is written, in their order.
    init(_ entries: [(EntryPath, String)]) {
        for (entry, written) in entries {
            let parts = NameTree.parts(entry, written)
            NameTree.add(parts[...], to: &root)
        }
    }

    /// A name's folders and its last part.
    private static func parts(_ entry: EntryPath, _ written: String) -> [String] {
        if entry.name.contains("://"), let slash = written.utf8.firstIndex(of: UInt8(ascii: "/")) {
            return [String(written[..<slash]), String(written[written.utf8.index(after: slash)...])]
        }
        return written.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// A name as far as the folder that comes next behind its beginning, with its slash, or the whole name where none
    /// does.
    static func step(_ entry: EntryPath, _ written: String, behind begun: String) -> String {
        var step = ""
        for folder in parts(entry, written).dropLast() {
            step += folder + "/"
            if step.utf8.count > begun.utf8.count { return step }
        }
        return written
    }

    private static func add(_ parts: ArraySlice<String>, to node: inout Node) {
        guard let first = parts.first else { return }
        guard parts.count > 1 else {
            node.entries.append(first)
            return
        }
        // They come sorted, so a folder that is known is the last one but for names from earlier versions.
        if let index = node.folders.lastIndex(where: { $0.name.utf8.elementsEqual(first.utf8) }) {
            add(parts.dropFirst(), to: &node.folders[index].node)
        } else {
            var new = Node()
            add(parts.dropFirst(), to: &new)
            node.folders.append((first, new))
        }
    }

    var text: String { NameTree.lines(root, "").joined() }

    private static func lines(_ node: Node, _ indent: String) -> [String] {
        node.entries.map { indent + $0 + "\n" }
            + node.folders.flatMap { [indent + $0.name + "/\n"] + lines($0.node, indent + "  ") }
    }
}
