import Cryptography
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
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

    @Test func `a newer header of the same keys is followed, with its rules and what the unlock proved`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.stream(pattern(2_000_000), "name")
        let reader = try vault.reader(for: "name", in: "default")
        try reader.next { _, _ in }
        #expect(try vault.followHeader())
        let other = try home.open()
        try other.unlock("right")
        #expect(try vault.followHeader(), "an unlock changes the ledger only")
        let before = vault.openGeneration
        try other.changePasscode("right", "new")
        try other.changePolicy(passcode: secret("new"), spending: other.burnAttempt()) { policy in
            policy.lockTiming = .after(seconds: 15)
            policy.collectionMinima = ["bank": .hardwareLimited]
        }
        #expect(try !vault.followHeader { $0.lockTiming.seconds != 15 }, "rules under which it would be locked by now")
        #expect(vault.openGeneration == before && vault.authenticatedPolicy?.lockTiming != .after(seconds: 15))
        #expect(try vault.followHeader())
        #expect(vault.openGeneration == before.map { $0 + 2 })
        #expect(vault.authenticatedPolicy?.lockTiming == .after(seconds: 15) && vault.assurance == .keyBound)
        #expect(errorCode { try vault.put([1], "name", "bank") } == .assuranceTooLow)
        try reader.next { _, _ in }
        try vault.put([1], "more")
        #expect(try other.get("more") == [1])
        vault.lock()
        #expect(errorCode { _ = try vault.followHeader() } == .locked)
        try vault.unlock("new")
        #expect(try vault.followHeader())
        try home.write([], to: "header")
        #expect(errorCode { _ = try vault.followHeader() } == .damaged)
    }

    @Test func `new keys, an older header and a forged one are not followed`() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        let old = try home.bytes("header")
        let other = try home.open()
        try other.changePasscode("right", "new")
        #expect(try vault.followHeader())
        let new = try home.bytes("header")
        try home.write(old, to: "header")
        #expect(try !vault.followHeader())
        var forged = try Header(parsing: Array(new[..<Header.copySize])) { BLAKE3.hash($0).bytes }
        forged.generation += 1
        forged.policy.attemptLimit = 9
        let copy = try forged.encoded { BLAKE3.hash($0).bytes }
        try home.write(copy + copy, to: "header")
        #expect(try !vault.followHeader())
        #expect(vault.authenticatedPolicy?.attemptLimit == 5)
        try home.write(new, to: "header")
        #expect(try vault.followHeader())
        try other.rekey(
            passcode: secret("new"), spending: other.burnAttempt(), newPasscode: secret("new"), phrase: phrase.phrase,
            isNewPhrase: false)
        #expect(try !vault.followHeader())
    }
}
