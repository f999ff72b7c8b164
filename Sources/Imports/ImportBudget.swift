internal import VaultFormat

/// The memory that a text and its parts take. Each is charged before it is made: how many there may be bounds nothing
/// where a part of three bytes becomes one of a hundred.
struct ImportBudget {
    /// Bytes that were charged.
    private(set) var spent: Int

    /// - Parameter spent: What the text takes, and another part of the same file that is still there.
    init(spent: Int = 0) { self.spent = spent }

    /// - Throws: ``ImportError`` (`tooLarge`) with the line, beyond ``ImportLimits/parts``.
    mutating func charge(bytes: Int, line: Int) throws(ImportError) {
        spent += bytes
        guard spent <= ImportLimits.parts else {
            throw ImportError(
                .tooLarge, "line \(line)",
                "the file has too many parts: they take more than \(ImportLimits.parts >> 20) MiB")
        }
    }

    /// Gives back what was made for a moment.
    mutating func release(bytes: Int) { spent -= bytes }

    /// An object: Swift's header of 16 bytes, the allocator's of 8, in steps of 16.
    static func object(_ size: Int) -> Int { (size + 39) & ~15 }

    /// The storage of an array, without its elements.
    static let array = object(16)

    /// An element of an array or a table, which has up to twice as many places as it needs.
    static func element<T: ~Copyable>(_ type: T.Type) -> Int { 2 * MemoryLayout<T>.stride }

    /// A text in ordinary memory, beside the place that holds it: up to 15 bytes are in that.
    static func text(_ count: Int) -> Int { count > 15 ? object(17 + count) : 0 }

    /// A value in locked memory: a slot of a power of two, or pages of its own between two others.
    static func locked(_ count: Int) -> Int {
        guard count <= 4096 else { return count + 16_384 }
        var slot = 32
        while slot < count { slot *= 2 }
        return slot
    }
}
