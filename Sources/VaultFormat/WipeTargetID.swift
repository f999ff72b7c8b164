/// Names something that a wipe erases: lower-case letters, digits and hyphens, with dots between the parts of a name
/// that an app gave. Never a path.
package struct WipeTargetID: Sendable, Hashable, CustomStringConvertible {
    /// The name.
    package let description: String

    static let longest = 64

    /// Nil for anything but 1 to 64 of these characters, beginning with a letter, dots standing alone between others.
    package init?(_ name: some StringProtocol) {
        let name = String(name)
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...WipeTargetID.longest).contains(name.utf8.count), parts.allSatisfy(WipeTargetID.isPart) else {
            return nil
        }
        description = name
    }

    private static func isPart(_ part: Substring) -> Bool {
        guard let first = part.utf8.first, isLetter(first) else { return false }
        return part.utf8.allSatisfy { isLetter($0) || $0 == UInt8(ascii: "-") || isDigit($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Whether an app gave the name: those have a dot, the vault's own have none.
    package var isOfApp: Bool { description.utf8.contains(UInt8(ascii: ".")) }
}

/// How far one target is, or how it ended.
package enum WipeResult: UInt8, Sendable, Hashable, CaseIterable {
    /// Not erased yet.
    case pending = 0
    /// Overwritten and removed where it was a key, a count or a setting; removed where only erased keys could read it.
    case erased = 1
    /// There was nothing.
    case absent = 2
    /// Could not be erased; tried again at every start.
    case failed = 3
    /// Removed, but could not be overwritten before.
    case removed = 4
    /// Something of another kind (a folder, a device) has its name and was left alone.
    case foreign = 5

    /// The word in a receipt and in JSON.
    package var name: String {
        switch self {
        case .pending: "pending"
        case .erased: "erased"
        case .absent: "absent"
        case .failed: "failed"
        case .removed: "removed"
        case .foreign: "foreign"
        }
    }

    /// Whether nothing more is to be done.
    package var isFinal: Bool { self != .pending && self != .failed }

    init?(name: some StringProtocol) {
        guard let result = WipeResult.allCases.first(where: { $0.name == name }) else { return nil }
        self = result
    }
}

/// One target and its outcome.
package struct WipeItem: Sendable, Hashable {
    /// Which target.
    package let target: WipeTargetID
    /// Its outcome.
    package var result: WipeResult
    /// How many files, or whatever an app counts, were erased.
    package var count: UInt32

    package init(_ target: WipeTargetID, _ result: WipeResult = .pending, count: UInt32 = 0) {
        self.target = target
        self.result = result
        self.count = count
    }
}
