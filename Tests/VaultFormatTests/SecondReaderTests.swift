import Foundation
import Testing
import VaultFormat

/// Numbers, words and limits that `scripts/holdfast_decrypt.py` states for itself are ours.
@Suite struct SecondReaderTests {
    private let script: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        script = try String(contentsOf: root.appending(path: "scripts/holdfast_decrypt.py"), encoding: .utf8)
    }

    /// The numbers that stand behind a line's first equals sign.
    private func numbers(_ names: String) throws -> [Int] {
        let line = try #require(script.split(separator: "\n").first { $0.hasPrefix(names + " = ") })
        return line.dropFirst(names.count).matches(of: /[0-9]+/).compactMap { Int($0.0) }
    }

    @Test func `the second reader has the same floor and ceiling of the costs`() throws {
        let limits = DerivationLimits.shipped
        let ours = [
            limits.passes.lowerBound, limits.passes.upperBound, limits.memoryKiB.lowerBound,
            limits.memoryKiB.upperBound,
        ]
        #expect(try numbers("PASSES, MEMORY_KIB") == ours.map(Int.init))
        #expect(limits.floor == DerivationParameters(passes: limits.passes.lowerBound, memoryKiB: 64 << 10))
    }

    @Test func `the second reader has the same limits of names`() throws {
        let ours = [RecordName.maximumCollectionSize, RecordName.maximumNameSize]
        #expect(try numbers("LONGEST_COLLECTION, LONGEST_NAME") == ours)
    }

    @Test func `the second reader has the same limits of items`() throws {
        let ours = [
            ItemLimits.size, ItemLimits.entries, ItemLimits.fields, ItemLimits.tags, ItemLimits.history,
        ]
        #expect(try numbers("ITEM_SIZE, ITEM_ENTRIES, ITEM_FIELDS, ITEM_TAGS, ITEM_HISTORY") == ours)
        #expect(try numbers("LONGEST_LABEL, LONGEST_TAG") == [ItemLimits.label, ItemLimits.tag])
    }

    @Test func `the second reader has the same kinds of slots and keys`() throws {
        let line = try #require(script.firstMatch(of: /KIND_NAMES = \{(.*)\}/))
        let theirs = line.1.matches(of: /([0-9]+): "(\w+)"/).map { (UInt8($0.1) ?? 0, String($0.2)) }
        let kinds: [SlotKind] = UnlockSecret.allCases.map { .secret($0) } + [.deviceOwner, .device]
        #expect(
            Dictionary(theirs, uniquingKeysWith: { $1 })
                == Dictionary(uniqueKeysWithValues: kinds.map { ($0.rawValue, $0.name) }))
        let stores = try #require(script.firstMatch(of: /STORE_NAMES = \{(.*)\}/))
        let theirStores = stores.1.matches(of: /([0-9]+): "(\w+)"/).map { (UInt8($0.1) ?? 0, String($0.2)) }
        #expect(
            Dictionary(theirStores, uniquingKeysWith: { $1 })
                == Dictionary(uniqueKeysWithValues: KeyStoreKind.allCases.map { ($0.rawValue, $0.name) }))
        let levels = try #require(script.firstMatch(of: /LEVELS = \((.*)\)/)).1.matches(of: /"(\w+)"/)
        #expect(levels.map { String($0.1) } == VaultLevel.allCases.map(\.name))
        let keys = try numbers("RECORDS, NAMES, FILES, LOG, IDENTITY, INBOX, LOG_REACHED")
        #expect(keys == KeybagLayout.Kind.allCases.map { Int($0.rawValue) })
    }
}
