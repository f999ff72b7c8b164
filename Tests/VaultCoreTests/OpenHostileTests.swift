import Foundation
import TestSupport
import Testing
import VaultFormat

@testable import OpenStorage
@testable import VaultCore
@testable import VaultStorage

/// A compartment's database that was made by somebody who has its key.
@Suite struct OpenHostileTests {
    /// The first of the two pages to begin with that has the higher number.
    private static func newest(_ file: [UInt8]) -> Int {
        let numbers = file.withRawSpan { file in
            (0..<2).map { file.integer(at: $0 * 4096 + 144, as: UInt64.self) ?? 0 }
        }
        return numbers[0] > numbers[1] ? 0 : 4096
    }

    private static func filled() throws -> (home: TestHome, file: [UInt8]) {
        let home = try TestHome()
        let vault = try home.locked()
        try vault.open.put([1], "a")
        try vault.open.put([2], "b")
        vault.open.close()
        return (home, try home.bytes("open.mdb"))
    }

    /// Both of LMDB's first pages must be ones that the walk through the pages takes: else it checks another state than
    /// the one that LMDB reads.
    @Test("a first page that only LMDB takes", arguments: [0, 1, 144])
    func aStateThatIsNotCheckedIsNotRead(offset: Int) throws {
        var (home, file) = try OpenHostileTests.filled()
        // Its own number, which LMDB does not look at; or the number of its transaction, with the wrong parity.
        file[OpenHostileTests.newest(file) + offset] ^= offset == 144 ? 1 : 4
        try home.write(file, to: "open.mdb")
        #expect(errorCode { _ = try home.open().open.get("b") } == .damaged)
        #expect(errorCode { try home.open().open.put([3], "c") } == .damaged)
    }

    // iOS starts no process for a test.
    #if !os(iOS)
    /// A page whose list of nodes reaches over its end: LMDB copies 20,000 bytes of the file into a page of 4,096.
    @Test func aPageThatIsLongerThanItselfIsNotCopied() async throws {
        await #expect(processExitsWith: .success) {
            var (home, file) = try OpenHostileTests.filled()
            let newest = OpenHostileTests.newest(file)
            let root = file.withRawSpan { Int($0.integer(at: newest + 128, as: UInt64.self) ?? 0) }
            var page = Array(file[root * 4096..<(root + 1) * 4096])
            func store(_ value: Int, _ count: Int, _ offset: Int, in bytes: inout [UInt8]) {
                for index in 0..<count { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
            }
            let number = file.count / 4096
            store(number, 8, 0, in: &page)
            store(20_000, 2, 12, in: &page)
            store(4_000, 2, 14, in: &page)
            while page.count < 8 * 4096 { page += page[16..<18] }
            file += page
            store(number, 8, newest + 128, in: &file)
            store(number + 7, 8, newest + 136, in: &file)
            file[newest] ^= 4
            try home.write(file, to: "open.mdb")
            let code = thrown(VaultError.self) { try home.open().open.put([3], "c") }?.code
            precondition(code == .damaged, "\(String(describing: code))")
        }
    }
    #endif

    @Test("a root record with the highest numbers there are", arguments: ["next", "count"])
    func theHighestNumbersAreDamage(field: String) throws {
        let home = try TestHome()
        let vault = try home.locked()
        try vault.open.put([1], "a")
        try vault.open.read { store throws(VaultError) in
            guard let store else { return }
            var root = try store.reader.root()
            if field == "next" { root.nextSequence = .max } else { root.count = .max }
            let transaction = try WriteTransaction(store.database)
            try WriteSession.writeRoot(root, store.writer, transaction)
            try transaction.commit()
        }
        vault.open.close()
        #expect(errorCode { try home.open().open.put([2], "b") } == .damaged)
        try vault.unlock("right")
        #expect(vault.open.lastMigration?.unreadable == 1)
        #expect(vault.open.lastMigration?.isSetAside == true)
        #expect(try vault.get("a", "inbox") == [1], "what can be read is saved")
    }
}
