import BetterAuthMessages
import BetterAuthServer
import Foundation
import TestSupport
import Testing

/// The lines of the audit log, and what happens to them.
@Suite struct AuditLogTests {
    private let fixture: StoreFixture
    private let key: AuditKey
    private var path: String { fixture.folder + "/audit.log" }

    init() throws {
        fixture = try StoreFixture(.memory)
        key = try AuditKey.generate()
    }

    private func open(_ key: AuditKey? = nil) throws -> AuditLog {
        try AuditLog(path, key ?? self.key, .refuse, clock: TestClock()) { _ in }
    }

    private func entry(_ number: Int, of identity: IdentityID? = nil) -> AuditEntry {
        AuditEntry(
            "rotate", .done, identity: identity, request: "request-\(number)", address: "192.0.2.7",
            moment: TestClock().now)
    }

    private func write(_ count: Int) throws {
        let log = try open()
        for number in 0..<count { #expect(log.recordAndWait(entry(number))) }
        log.close()
    }

    private func lines() throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private func put(_ lines: [String]) throws {
        try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func read(_ keys: [AuditKey]? = nil) throws -> AuditReport {
        var reader = AuditReader(keys ?? [key])
        return try reader.read(path)
    }

    private func faults(_ lines: [String]) throws -> [AuditReport.Fault] {
        try put(lines)
        return try read().faults.map(\.fault)
    }

    @Test func `lines prove each other, and name nobody`() throws {
        let identity = IdentityID(try freshDigest())
        let log = try open()
        #expect(log.recordAndWait(entry(1, of: identity)) && log.recordAndWait(entry(2)))
        log.close()
        let lines = try lines()
        #expect(lines.count == 4 && !lines.joined().contains(identity.description))
        #expect(lines[1].contains(try key.digest(of: identity.description)))
        #expect(lines[1].contains(#""request":"request-1","address":"192.0.2.7""#))
        let report = try read()
        #expect(report.faults.isEmpty && report.lines == 4 && report.chains.map(\.isEnded) == [true])
        // With another key it proves nothing, and the same identity is another one.
        let other = try AuditKey.generate()
        #expect(try read([other]).faults.count == 4)
        #expect(try other.digest(of: identity.description) != key.digest(of: identity.description))
        var mode = stat()
        #expect(unsafe stat(path, &mode) == 0 && mode.st_mode & 0o777 == 0o600)
    }

    @Test func `a bit that was changed anywhere is found`() throws {
        try write(3)
        let whole = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        let positions = TestRun.isSoak ? Array(whole.indices) : Array(stride(from: 0, to: whole.count, by: 3))
        for position in positions {
            var changed = whole
            changed[position] ^= 1 << UInt8(position % 7)
            try Data(changed).write(to: URL(fileURLWithPath: path))
            #expect(try !read().faults.isEmpty, "byte \(position)")
        }
    }

    @Test func `lines that were removed, moved or repeated are named`() throws {
        try write(4)
        let lines = try lines()
        let chain = try #require(try read().chains.first?.id)
        func without(_ numbers: Int...) -> [String] {
            lines.indices.filter { !numbers.contains($0) }.map { lines[$0] }
        }
        #expect(try faults(without(2)) == [.missing(chain: chain, first: 2, last: 2)])
        #expect(try faults(without(1, 2)) == [.missing(chain: chain, first: 1, last: 2)])
        #expect(try faults(without(0)) == [.missing(chain: chain, first: 0, last: 0)])
        var moved = lines
        moved.swapAt(1, 2)
        #expect(
            try faults(moved) == [.missing(chain: chain, first: 1, last: 1), .moved(chain: chain, place: 1)])
        #expect(try faults(Array(lines[...2]) + lines[2...]) == [.moved(chain: chain, place: 2)])
        #expect(try faults(lines + [lines[2]]) == [.afterEnd(chain: chain)])
        // A line under another number.
        let renumbered = lines.map { $0.replacing(#""n":2,"#, with: #""n":9000000000,"#) }
        #expect(
            try faults(renumbered)
                == [.changed(chain: chain, place: 9_000_000_000), .missing(chain: chain, first: 2, last: 2)])
    }

    @Test func `the end of a log may be missing, and what came after it tells`() throws {
        try write(3)
        let first = try lines()
        // Without its end a chain may continue: that is said, and is no fault.
        #expect(try faults(Array(first.dropLast(2))) == [])
        let cut = try #require(try read().chains.first)
        #expect(!cut.isEnded && cut.lines == 3)
        // A chain that begins later names the line in front of it.
        try put(first)
        try write(1)
        let both = try lines()
        let second = try #require(try read().chains.last)
        #expect(try read().faults.isEmpty)
        #expect(
            try faults(Array(first.dropLast(2)) + both.dropFirst(first.count)).contains(.unlinked(chain: second.id)))
        // All of the first: it may be in an earlier file, which is said.
        try put(Array(both.dropFirst(first.count)))
        let later = try read()
        #expect(later.faults.isEmpty && later.continuesEarlier)
    }

    @Test func `a log that was emptied is a fault`() throws {
        try write(1)
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(try read().faults.map(\.fault) == [.empty])
    }

    @Test func `a torn line stays, and what follows is whole`() throws {
        let log = try open()
        #expect(log.recordAndWait(entry(0)))
        // As after a kill in the middle of a write, by another process.
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(#"{"chain":"0123"#.utf8))
        #expect(log.recordAndWait(entry(1)))
        log.close()
        try write(1)
        let report = try read()
        #expect(report.faults.map(\.fault) == [.broken] && report.faults.first?.line == 3)
        #expect(report.chains.map(\.isEnded) == [true, true])
    }

    @Test func `several logs share a file, each with a chain of its own`() throws {
        let logs = try [open(), open(), open()]
        let written = Told()
        for number in 0..<200 {
            for log in logs { log.record(entry(number)) { if $0 { written.add("") } } }
        }
        logs.forEach { $0.close() }
        let report = try read()
        #expect(written.all.count == 600 && report.faults.isEmpty)
        #expect(report.chains.map(\.lines) == [202, 202, 202] && report.chains.allSatisfy(\.isEnded))
    }

    @Test func `a log goes on in a new file when it was moved away, and under a new key`() throws {
        let log = try open()
        #expect(log.recordAndWait(entry(0)))
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        log.reopen()
        #expect(log.recordAndWait(entry(1)))
        let next = try AuditKey.generate()
        log.adopt(next)
        log.adopt(next)
        #expect(log.recordAndWait(entry(2)))
        log.close()
        var reader = AuditReader([key])
        let old = try reader.read(path + ".1")
        #expect(old.faults.isEmpty && old.lines == 3 && old.chains.allSatisfy(\.isEnded))
        let report = try read([key, next])
        #expect(report.faults.isEmpty && report.lines == 6 && report.chains.allSatisfy(\.isEnded))
    }

    @Test func `a file that others may write, or that is none, is refused`() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(throws: AuditLog.Failure.self) { try open() }
        unsafe rmdir(path)
        unsafe mkfifo(path, 0o600)
        #expect(throws: AuditLog.Failure.self) { try open() }
        unsafe unlink(path)
        unsafe symlink("/dev/null", path)
        #expect(throws: AuditLog.Failure.self) { try open() }
        unsafe unlink(path)
        try write(1)
        unsafe chmod(path, 0o666)
        #expect(throws: AuditLog.Failure.self) { try open() }
    }

    @Test func `garbage is told line by line, and ends nothing`() throws {
        try write(1)
        let good = try lines()
        var random = SystemRandomNumberGenerator()
        let noise = (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        let huge = [UInt8](repeating: UInt8(ascii: "x"), count: 3 << 20) + [0x0A]
        let text = good.map { $0 + "\n" }.joined()
        try Data(noise + [0x0A] + huge + Array(text.utf8)).write(to: URL(fileURLWithPath: path))
        let report = try read()
        #expect(report.faults.allSatisfy { $0.fault == .broken } && report.chains.map(\.lines) == [3])
        #expect(report.chains.map(\.isEnded) == [true])
    }

    @Test func `a log that was taken away is made anew, and says how long the lost chain was`() throws {
        let log = try open()
        #expect(log.recordAndWait(entry(0)))
        unsafe unlink(path)
        // The first one finds it; what waits then stands in the new file.
        #expect(!log.recordAndWait(entry(1)))
        #expect(log.failure != nil && !log.admits)
        log.examine()
        #expect(Patience.wait { log.failure == nil })
        log.close()
        let lines = try lines()
        #expect(lines.count == 3 && lines[0].contains(#""lines":2"#) && lines[1].contains("request-1"))
    }
}
