import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// Values given and taken at another's pace.
@Suite struct StreamTests {
    static let sizes = [0, 1, 4096, 4097, 65_536, 65_537, 1 << 20, (1 << 20) + 1, 1_200_000, (1 << 20) + 65_536]

    @Test("size", arguments: sizes)
    func aValueComesBack(_ size: Int) throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        defer { withExtendedLifetime(home) {} }
        let bytes = pattern(size)
        let writer = try vault.writer(for: "name", in: "c", replacing: false)
        var position = 0
        for piece in [1, 4095, 65_536, 7] + [Int](repeating: 65_536, count: 40) where position < size {
            let end = min(size, position + piece)
            let part = Array(bytes[position..<end])
            try writer.append(unsafe part.span.bytes)
            position = end
        }
        #expect(try writer.finish() == UInt64(size))
        #expect(try vault.readAll("name", "c") == bytes)
        #expect(try vault.records()[0].isFile == (size > 1 << 20))
        let (all, lasts) = try take(vault.reader(for: "name", in: "c"))
        #expect(all == bytes)
        #expect(lasts.dropLast().allSatisfy { !$0 } && lasts.last == true)
        #expect(lasts.count == max(1, (size + 65_535) / 65_536))
        #expect(try vault.verify().isIntact)
    }

    private func take(_ reader: ValueReader) throws -> ([UInt8], [Bool]) {
        var all: [UInt8] = []
        var lasts: [Bool] = []
        while lasts.last != true {
            try reader.next { piece, isLast in
                all += piece.array
                lasts.append(isLast)
            }
        }
        return (all, lasts)
    }

    @Test func nothingIsReplacedByAccident() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        defer { withExtendedLifetime(home) {} }
        try vault.put([1], "name")
        #expect(errorCode { _ = try vault.writer(for: "name", in: "default", replacing: false) } == .recordExists)
        // Another writer was faster.
        let late = try vault.writer(for: "other", in: "default", replacing: false)
        try vault.put([2], "other")
        #expect(errorCode { _ = try late.finish() } == .recordExists)
        #expect(try vault.get("other") == [2])
        let replacing = try vault.writer(for: "name", in: "default", replacing: true)
        let bytes: [UInt8] = [3]
        try replacing.append(unsafe bytes.span.bytes)
        _ = try replacing.finish()
        #expect(try vault.get("name") == [3])
        #expect(errorCode { _ = try vault.writer(for: "", in: "default", replacing: true) } == .invalidName)
        #expect(errorCode { _ = try vault.reader(for: "none", in: "default") } == .recordNotFound)
    }

    @Test("unfinished", arguments: [10, 2_000_000])
    func aWriterThatIsDroppedLeavesNothing(_ size: Int) throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        do {
            let writer = try vault.writer(for: "name", in: "c", replacing: false)
            let bytes = pattern(size)
            try writer.append(unsafe bytes.span.bytes)
        }
        #expect(try vault.records().isEmpty)
        #expect(try vault.verify().orphanedFiles == 0)
    }

    @Test("locked", arguments: [10, 2_000_000])
    func aLockEndsThemBetweenTwoPieces(_ size: Int) throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        defer { withExtendedLifetime(home) {} }
        try vault.stream(pattern(size), "name")
        let reader = try vault.reader(for: "name", in: "default")
        let writer = try vault.writer(for: "other", in: "default", replacing: false)
        let bytes = pattern(size)
        try writer.append(unsafe bytes.span.bytes)
        if size > 1000 { try reader.next { _, isLast in #expect(!isLast) } }
        vault.lock()
        #expect(errorCode { try reader.next { _, _ in } } == .locked)
        #expect(errorCode { try writer.append(unsafe bytes.span.bytes) } == .locked)
        #expect(errorCode { _ = try writer.finish() } == .locked)
        #expect(errorCode { _ = try vault.writer(for: "x", in: "c", replacing: true) } == .locked)
        try vault.unlock("right")
        #expect(try vault.records().map(\.name) == ["name"])
    }

    @Test func aHeaderThatOthersChangedIsNoticed() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        #expect(try vault.isHeaderCurrent())
        try vault.put([1], "name")
        #expect(try vault.isHeaderCurrent())
        let other = try home.open()
        try other.unlock("right")
        #expect(try vault.isHeaderCurrent(), "an unlock changes the ledger only")
        try other.changePasscode("right", "new")
        #expect(try !vault.isHeaderCurrent())
        vault.lock()
        #expect(errorCode { _ = try vault.isHeaderCurrent() } == .locked)
        try vault.unlock("new")
        #expect(try vault.isHeaderCurrent())
        try home.write([], to: "header")
        #expect(errorCode { _ = try vault.isHeaderCurrent() } == .damaged)
    }
}
