internal import VaultFormat
internal import SystemCalls

extension DatabasePages {
    /// One page of a tree whose nodes fill it without a gap or an overlap, as LMDB keeps them.
    ///
    /// Its header: number (8), padding (2), flags (2), lower (2), upper (2), offsets of the nodes (2 each). A node: 32
    /// low bits of size or child (4), flags or the child's next 16 bits (2), size of the key (2), key, value.
    struct Page {
        enum Kind { case branch, leaf }

        struct Node {
            let offset: Int
            let key: Range<Int>
            /// Empty in a branch.
            let value: Range<Int>
            /// Bytes of the value; it lies in pages of its own when `isLarge`.
            let size: Int
            let isLarge: Bool
            /// The value says where another tree is.
            let isTree: Bool
        }

        let bytes: [UInt8]
        let kind: Kind
        let nodes: [Node]

        /// - Parameter extents: Room for the sizes of the nodes by their places; zeros before and after.
        init?(_ bytes: [UInt8], _ number: UInt64, _ extents: inout [UInt16]) {
            let parsed = bytes.withRawSpan { page -> (Kind, [Node])? in
                guard page.integer(at: 0, as: UInt64.self) == number,
                    let flags = page.integer(at: 10, as: UInt16.self), flags == 0x01 || flags == 0x02,
                    let lower = page.integer(at: 12, as: UInt16.self).map(Int.init),
                    let upper = page.integer(at: 14, as: UInt16.self).map(Int.init),
                    lower >= DatabasePages.headerSize, lower % 2 == 0, lower <= upper, upper <= page.byteCount
                else { return nil }
                let kind: Kind = flags == 0x01 ? .branch : .leaf
                var nodes: [Node] = []
                nodes.reserveCapacity((lower - DatabasePages.headerSize) / 2)
                for place in stride(from: DatabasePages.headerSize, to: lower, by: 2) {
                    guard let node = Page.node(page, place, kind, upper) else { return nil }
                    nodes.append(node)
                }
                guard Page.fill(page.byteCount, from: upper, nodes, &extents) else { return nil }
                return (kind, nodes)
            }
            guard let parsed else { return nil }
            self.bytes = bytes
            (kind, nodes) = parsed
        }

        private static func even(_ size: Int) -> Int { size + size & 1 }

        /// Whether the nodes lie one behind the other from `upper` to the page's end.
        private static func fill(
            _ pageSize: Int, from upper: Int, _ nodes: [Node], _ extents: inout [UInt16]
        ) -> Bool {
            var isRight = true
            for node in nodes {
                let size = even(node.value.upperBound - node.offset)
                if extents[node.offset / 2] != 0 || node.offset + size > pageSize { isRight = false }
                extents[node.offset / 2] = UInt16(truncatingIfNeeded: size)
            }
            var (end, count) = (upper, 0)
            while isRight, end < pageSize, extents[end / 2] != 0 {
                end += Int(extents[end / 2])
                count += 1
            }
            for node in nodes { extents[node.offset / 2] = 0 }
            return isRight && end == pageSize && count == nodes.count
        }

        func key(_ index: Int) -> Key { Key(bytes: bytes, range: nodes[index].key) }

        /// Whether its keys ascend, none below `lowest`, all below `end`, so that LMDB finds them. A branch's first key
        /// has no meaning.
        func isOrdered(_ tree: DatabasePages.Kind, from lowest: Key?, to end: Key?) -> Bool {
            var last = lowest
            var isFirst = true
            for index in nodes.indices.dropFirst(kind == .branch ? 1 : 0) {
                let key = key(index)
                if tree == .freePages && key.range.count != 8 { return false }
                // The first of a leaf may be the lowest key itself.
                if let last {
                    let order = last.compare(key, isNumber: tree == .freePages)
                    guard order < 0 || order == 0 && isFirst && kind == .leaf else { return false }
                }
                last = key
                isFirst = false
            }
            guard let last, let end, !isFirst else { return true }
            return last.compare(end, isNumber: tree == .freePages) < 0
        }

        private static func node(_ page: RawSpan, _ place: Int, _ kind: Kind, _ upper: Int) -> Node? {
            guard let offset = page.integer(at: place, as: UInt16.self).map(Int.init), offset >= upper,
                offset % 2 == 0, let size = page.integer(at: offset, as: UInt32.self).map(Int.init),
                let flags = page.integer(at: offset + 4, as: UInt16.self),
                let keySize = page.integer(at: offset + 6, as: UInt16.self).map(Int.init), keySize <= 511
            else { return nil }
            let key = offset + 8..<offset + 8 + keySize
            if kind == .branch {
                guard key.upperBound <= page.byteCount else { return nil }
                return Node(
                    offset: offset, key: key, value: key.upperBound..<key.upperBound, size: 0, isLarge: false,
                    isTree: false)
            }
            // Flag 1: the value is the number of the first page that it is in; flag 2: it is where another tree is.
            // What is left is of databases with duplicates.
            guard flags <= 2, !key.isEmpty else { return nil }
            let value = key.upperBound..<key.upperBound + (flags == 1 ? 8 : size)
            guard value.upperBound <= page.byteCount else { return nil }
            // What is larger LMDB puts into pages of its own; a page that it splits must have room for any two nodes.
            let largest = (page.byteCount - DatabasePages.headerSize) / 2 & ~1 - 2
            guard value.upperBound - offset <= largest else { return nil }
            return Node(
                offset: offset, key: key, value: value, size: size, isLarge: flags == 1, isTree: flags == 2)
        }

        /// Where the tree of the records is; nil when the node says anything else.
        func tree(_ node: Node) -> Tree? {
            bytes.withRawSpan { page in
                guard node.size == Tree.size, DatabaseTrees.isNameOfRecords(page.extracting(node.key)) else {
                    return nil
                }
                return Tree(page, at: node.value.lowerBound)
            }
        }

        func child(_ node: Node) -> UInt64 {
            bytes.withRawSpan { page in
                let low = page.integer(at: node.offset, as: UInt32.self) ?? 0
                let high = page.integer(at: node.offset + 4, as: UInt16.self) ?? 0
                return UInt64(low) | UInt64(high) << 32
            }
        }
    }
}

extension DatabasePages {
    /// A key where it lies in its page.
    struct Key {
        let bytes: [UInt8]
        let range: Range<Int>

        /// Below, at or above zero as this key comes before, is, or comes behind the other one in LMDB's order.
        func compare(_ other: Key, isNumber: Bool) -> Int {
            bytes.withRawSpan { one in
                other.bytes.withRawSpan { two in
                    if isNumber {
                        let one = one.integer(at: range.lowerBound, as: UInt64.self) ?? 0
                        let two = two.integer(at: other.range.lowerBound, as: UInt64.self) ?? 0
                        return one < two ? -1 : one == two ? 0 : 1
                    }
                    let common = min(range.count, other.range.count)
                    let order = unsafe one.extracting(range).withUnsafeBytes { one in
                        unsafe two.extracting(other.range).withUnsafeBytes { two in
                            common == 0 ? 0 : unsafe memcmp(one.baseAddress!, two.baseAddress!, common)
                        }
                    }
                    return order != 0 ? Int(order) : range.count - other.range.count
                }
            }
        }
    }
}
