#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// Bytes in the heads of the database's pages changed at random before a write. However they lie, LMDB must not come
/// upon pages over which it writes to memory that is not its own, or gives up: no child ends by a signal.
@Suite(.seeded) struct FlippedWriteTests {
    private static let pageSize = 4_096
    /// Where the first page's state ends, and the second one's: the number of its last page, and of its transaction.
    private static let numbers = 136..<152

    /// Up to three changes of one order, most of them where a page says what is where in it.
    private static func order(_ good: [UInt8], _ generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...3, using: &generator)).map { _ in
            let page = Int.random(in: 0..<good.count / pageSize, using: &generator) * pageSize
            let isMeta = page < 2 * pageSize
            // In every third one: anywhere in the page, at a byte that says something.
            var offset = page + Int.random(in: 0..<(isMeta ? 152 : 64), using: &generator)
            if !isMeta, Int.random(in: 0..<3, using: &generator) == 0 {
                let used = (page..<page + pageSize).filter { good[$0] != 0 }
                offset = used.randomElement(using: &generator) ?? offset
            }
            return "\(offset) \(generator.mask())"
        }.joined(separator: " ")
    }

    @Test func `no write to a damaged database ends the process`() throws {
        let home = try SmallHome()
        // Pages that are free, for the list of them.
        let vault = try home.open()
        try vault.unlock(0)
        for number in 55..<60 { try vault.delete("n\(number)", in: "many") }
        vault.lock()
        var generator = TestRun.generator("write")
        let good = try home.bytes("vault.mdb")
        let count = TestRun.isSoak ? 20_000 : 30
        var outcomes: [String: Int] = [:]
        let child = try Child(["flip-write", home.scratch.home, home.scratch.clock.path])
        #expect(try child.expect() == "ready")
        // How far the database reaches is what every write begins with: each of those bytes, at its highest bit and all
        // of it.
        let states = FlippedWriteTests.numbers.flatMap { byte in
            [128, 255].map { "\(byte) \($0) \(byte + FlippedWriteTests.pageSize) \($0)" }
        }
        let random = (0..<count).map { _ in FlippedWriteTests.order(good, &generator) }
        for order in states + random {
            try child.send(order)
            var last: String?
            while let line = try child.line() {
                last = line
                if line == "end" { break }
                if line != "begin" { outcomes[line, default: 0] += 1 }
            }
            guard last == "end" else {
                Issue.record("\(child.wait()) after \(last ?? "nothing"): \(order)")
                return
            }
        }
        child.closeInput()
        #expect(child.wait() == .exited(0))
        let codes = Set(outcomes.keys.map { $0.split(separator: " ")[1] })
        // A changed key is a record that is not there; no change gives anything but an answer.
        #expect(!codes.contains { $0.hasPrefix("untyped") }, "\(outcomes)")
        #expect(codes.isSuperset(of: ["done", "damaged"]))
        let told = outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        TestRun.report("write", "\(states.count + count) databases with changed heads of pages: \(told)")
    }
}
#endif
