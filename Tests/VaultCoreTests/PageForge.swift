import VaultFormat

@testable import VaultCore
@testable import VaultStorage

/// Alters an LMDB file of 4,096-byte pages in one place, as somebody would who knows the format.
struct PageForge {
    static let size = 4_096
    private var file: [UInt8]
    /// Offsets of the newest meta page, and of the older one.
    private let meta: Int

    init(_ file: [UInt8]) {
        self.file = file
        let numbers = file.withRawSpan { file in
            (0..<2).map { file.integer(at: $0 * PageForge.size + 144, as: UInt64.self) ?? 0 }
        }
        meta = numbers[0] > numbers[1] ? 0 : PageForge.size
    }

    func number(_ offset: Int, _ count: Int) -> Int {
        file[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func store(_ value: Int, _ count: Int, at offset: Int) {
        for index in 0..<count { file[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
    }

    /// Offsets of a page's nodes.
    private func nodes(_ page: Int) -> [Int] {
        stride(from: 16, to: number(page + 12, 2), by: 2).map { page + number(page + $0, 2) }
    }

    private func isBranch(_ page: Int) -> Bool { number(page + 10, 2) == 1 }

    private func children(_ page: Int) -> [Int] { nodes(page).map { number($0, 4) * PageForge.size } }

    private func value(_ node: Int) -> Int { node + 8 + number(node + 6, 2) }

    private var main: Int { number(meta + 128, 8) * PageForge.size }

    /// LMDB's description of the records' tree.
    private var tree: Int {
        nodes(main).first { number($0 + 4, 2) == 2 }.map(value) ?? 0
    }

    private var root: Int { number(tree + 40, 8) * PageForge.size }

    /// All leaves in order.
    private var leaves: [Int] { leaves(root) }

    private func leaves(_ page: Int) -> [Int] { isBranch(page) ? children(page).flatMap(leaves) : [page] }

    /// A node whose value lies in pages of its own.
    private var large: Int { leaves.flatMap(nodes).first { number($0 + 4, 2) == 1 } ?? 0 }

    private var freeLeaf: Int { leaves(number(meta + 80, 8) * PageForge.size)[0] }

    /// The list of free pages that has the most, where it lies in its leaf.
    private var list: Int { nodes(freeLeaf).map(value).max { number($0, 8) < number($1, 8) } ?? 0 }

    /// A page whose list of nodes reaches over its end: LMDB copies 20,000 bytes of the file into a page of 4,096.
    private mutating func lengthen(_ page: Int) {
        store(20_000, 2, at: page + 12)
        store(4_000, 2, at: page + 14)
    }

    /// The main tree's page is read when a vault is unlocked: the long one is made of its nodes again and again.
    private mutating func replaceMain() {
        var page = Array(file[main..<main + PageForge.size])
        let number = file.count / PageForge.size
        while page.count < 8 * PageForge.size { page += page[16..<18] }
        file += page
        store(number, 8, at: number * PageForge.size)
        lengthen(number * PageForge.size)
        store(number, 8, at: meta + 128)
        store(number + 7, 8, at: meta + 136)
    }

    /// - Returns: The altered file.
    func crafted(_ craft: HostilePagesTests.Craft) throws -> [UInt8] {
        var copy = self
        try copy.alter(craft)
        return copy.file
    }

    private mutating func alter(_ craft: HostilePagesTests.Craft) throws {
        let leaf = leaves[leaves.count / 2]
        let before = file
        switch craft {
        case .longMain: replaceMain()
        case .longRoot, .longBranch: lengthen(root)
        case .longLeaf: lengthen(leaf)
        case .longNeighbour: lengthen(leaves[leaves.count / 2 + 1])
        case .longLastLeaf: lengthen(leaves[leaves.count - 1])
        case .upperBehindTheEnd: store(40_000, 2, at: leaf + 14)
        case .dirtyFlag: file[leaf + 10] |= 0x10
        case .nodeBehindTheEnd: store(60_000, 2, at: leaf + 16)
        case .hugeKey: store(60_000, 2, at: nodes(leaf)[0] + 6)
        case .hugeValue: store(1 << 20, 4, at: nodes(leaf)[0])
        case .keysOutOfOrder:
            let (one, two) = (number(leaf + 16, 2), number(leaf + 18, 2))
            store(two, 2, at: leaf + 16)
            store(one, 2, at: leaf + 18)
        case .leafServesTwice:
            let nodes = nodes(root)
            store(number(nodes[0], 4), 4, at: nodes[1])
        case .childBehindTheEnd: store(1 << 24, 4, at: nodes(root)[1])
        case .overflowCount: store(1 << 30, 4, at: number(value(large), 8) * PageForge.size + 12)
        case .overflowOfAnother:
            let all = leaves.flatMap(nodes).filter { number($0 + 4, 2) == 1 }
            store(number(value(all[1]), 8), 8, at: value(all[0]))
        case .overflowIsALeaf: store(leaf / PageForge.size, 8, at: value(large))
        case .treeDepth: store(40, 2, at: tree + 6)
        case .treeEntries: store(1, 8, at: tree + 32)
        case .lastPageTooLow: store(4, 8, at: meta + 136)
        case .freeCount: store(1 << 40, 8, at: list)
        case .freePageInUse: replaceFree { _ in leaf / PageForge.size }
        case .freeMetaPage: replaceFree { _ in 0 }
        case .freePageTwice: replaceFree { $0[$0.count - 2] }
        case .freeOutOfOrder:
            let (one, two) = (number(list + 8, 8), number(list + 16, 8))
            store(two, 8, at: list + 8)
            store(one, 8, at: list + 16)
        case .freePageBehindTheEnd: store(1 << 23, 8, at: list + 8)
        case .freeOfTheFuture: store(1 << 40, 8, at: nodes(freeLeaf)[nodes(freeLeaf).count - 1] + 8)
        case .freeLeafLong: lengthen(freeLeaf)
        }
        guard file != before else { throw NothingAltered() }
    }

    struct NothingAltered: Error {}

    /// Puts another number in place of one, and keeps the order.
    private mutating func replaceFree(_ other: ([Int]) -> Int) {
        let count = number(list, 8)
        var pages = (0..<count).map { number(list + 8 + 8 * $0, 8) }
        pages[count - 1] = other(pages)
        pages.sort(by: >)
        for (index, page) in pages.enumerated() { store(page, 8, at: list + 8 + 8 * index) }
    }
}
