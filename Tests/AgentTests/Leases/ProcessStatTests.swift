import HoldfastAgent
import TestSupport
import Testing

/// What the kernel tells of processes, whose names may be anything.
@Suite(.seeded) struct ProcessStatTests {
    private static let rest = " S 1 40 39 34817 40 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2"

    @Test(arguments: ["sh", "", "a b", ") R 9 9 9 9 9", "((", "))", "x) S 1 2 3 4 5"])
    func `the name of a process cannot change what is read of it`(name: String) throws {
        let stat = try #require(ProcessStat(parsing: Array("17 (\(name))\(Self.rest)\n".utf8)[...]))
        #expect(stat.name == name)
        #expect(stat.group == 40 && stat.session == 39 && stat.terminal == 34817 && stat.foreground == 40)
        #expect(stat.start == 987_654)
    }

    @Test(arguments: [("S", 1, false), ("Z", 1, true), ("X", 1, true), ("Z", 2, false), ("R", 0, false)])
    func `a process has ended when nothing of it runs, whoever has taken note`(
        state: String, threads: Int, hasEnded: Bool
    ) throws {
        let rest = " \(state) 1 40 39 34817 40 4194304 1 2 3 4 5 6 7 8 20 0 \(threads) 0 987654 1 2"
        #expect(try #require(ProcessStat(parsing: Array("17 (sh)\(rest)\n".utf8)[...])).hasEnded == hasEnded)
    }

    @Test func `a line that is cut or damaged is read as nothing or as what is there`() {
        let line = Array("17 (sh)\(Self.rest)\n".utf8)
        for count in 0..<line.count { _ = ProcessStat(parsing: line[..<count]) }
        #expect(ProcessStat(parsing: Array("17 (sh) S 1 40".utf8)[...]) == nil)
        #expect(
            ProcessStat(parsing: Array("17 )sh( S 1 40 39 34817 40 4 1 2 3 4 5 6 7 8 9 0 1 0 9 1".utf8)[...]) == nil)
        var random = SeededGenerator()
        for _ in 0..<2000 {
            var bytes = line
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            _ = ProcessStat(parsing: bytes[...])
        }
    }
}
