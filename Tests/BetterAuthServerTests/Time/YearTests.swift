import BetterAuthHTTP
import BetterAuthMessages
import BetterAuthVerification
import Cryptography
import Foundation
import RealParts
import TestSupport
import Testing

@testable import BetterAuthServer
@testable import HoldfastServer

/// A server with everything beside it, for a year: each hour it rotates what is due, does some operations, and what is
/// on the disk is looked at, by a reader of its own.
@Suite(.seeded) struct YearTests {
    /// Three days, two weeks, or a year; hours between two looks at everything.
    private let hours = TestRun.count(test: 72, check: 336, soak: 8760)
    private let looks = TestRun.count(test: 6, check: 12, soak: 24)

    @Test func `what a server keeps is flat or within its bound, and can be read at any time`() throws {
        let scene = try YearScene(chainRotations: hours * 2 / 3)
        defer { scene.close() }
        var sizes: [[String: Int]] = []
        for hour in 1...hours {
            try scene.pass(hour)
            if hour % looks == 0 { sizes.append(try scene.look()) }
        }
        // The first third begins: sessions live 12 hours, records of keys a day.
        let third = sizes.count / 3
        for name in ["keys", "audit", "published", "replies", "refreshed", "chain keys"] {
            let most = { (part: ArraySlice<[String: Int]>) in part.compactMap { $0[name] }.max() ?? 0 }
            let (before, after) = (most(sizes[third..<2 * third]), most(sizes[(2 * third)...]))
            #expect(after <= before + before / 4 + 64, "\(name): \(before), then \(after)")
        }
        // Commits wait at eight times the threshold; the thread that brings the log into the file may be late.
        #expect(sizes.allSatisfy { $0["wal"]! <= (8 * YearScene.checkpointPages + 100) * 4120 })
        let last = try #require(sizes.last)
        #expect(last["keys"]! <= 47 + 41 * 64 && last["audit keys"]! <= 16)
        // Of a chain's own keys eight, and a spare one.
        #expect(sizes.allSatisfy { $0["chain keys"]! <= 47 + 41 * 9 })
        // Docs/operations.md 3 and 10: what is kept forever, and the pages of an empty database.
        #expect(last["database"]! <= 400 * scene.lives.accounts + 400_000, "\(last)")
        #expect(scene.chains == 2, "a full chain was followed by another")
        print("year: \(hours) hours, \(scene.lives.devices) devices, \(scene.lives.refreshes) refreshes, \(last)")
    }
}

private final class YearScene {
    let lives: YearLives
    /// Key chains that there were.
    private(set) var chains = 1
    private let scratch: ScratchFolder
    private let clock = TestClock()
    private let store: SQLiteStore
    private let file: KeyFile
    private let custody: KeyCustody
    private let audit: AuditLog
    private let chainRotations: Int
    private var keys: YearKeys
    private var largestSegment = 0
    /// Few, to see many checkpoints.
    static let checkpointPages = 50

    init(chainRotations: Int) throws {
        self.chainRotations = chainRotations
        scratch = try ScratchFolder("year")
        var settings = SQLiteSettings()
        settings.checkpointPages = YearScene.checkpointPages
        store = try SQLiteStore(scratch["accounts.db"], settings, clock: clock)
        file = KeyFile(scratch["keys"])
        custody = try KeyCustody(
            file, of: store, Lifetimes(), takesNewKeys: false, ServerLog(.error), clock: clock)
        audit = try AuditLog(scratch["audit.log"], custody.auditKey(), .refuse, clock: clock) { failure in
            if let failure { Issue.record("\(failure)") }
        }
        keys = try YearKeys(scratch["chain-1"], rotations: chainRotations, clock: clock)
        let attributes = try ApplicationData(json: #"{"permissionsByRole":{"user":["read"]}}"#)
        let server = AuthServer(
            store: store, keys: custody.keys, clock: clock, compression: ZlibTokenCompression(),
            attributes: { _ in attributes })
        lives = YearLives(server, clock, audit)
        keys.publication.publish(custody.keys)
    }

    func close() {
        audit.close()
        store.close()
        keys.close()
    }

    /// What happens in an hour.
    func pass(_ hour: Int) throws {
        clock.advance(seconds: 3600)
        keys.renew()
        keys.publication.publish(custody.keys)
        #expect(keys.publication.admitsRotation(of: custody.keys, now: clock.now), "hour \(hour)")
        // Published for 300 s, then in use for 3,000: each hour another pair.
        #expect(try custody.rotate(after: 3000, publishedSeconds: 300, now: clock.now), "hour \(hour)")
        keys.publication.publish(custody.keys)
        #expect(custody.examine() == nil)
        #expect(keys.problem == nil)
        try rotateChain()
        if hour % 24 == 0 { try turnAuditLog() }
        if hour % 168 == 0 { try renewAuditKey() }
        try lives.live()
        try store.probe(now: clock.now)
    }

    /// Rotates the chain each hour. A full one refuses that, continues with what it has, and is followed by another.
    private func rotateChain() throws {
        let told = try #require(keys.metric("holdfast_chain_room"))
        guard try !keys.rotate() else { return }
        #expect(told == 0, "it is full with room for \(told)")
        #expect(try keys.learned(#require(lives.signer), .response, now: clock.now))
        _ = try keys.sizes()
        keys.close()
        chains += 1
        keys = try YearKeys(scratch["chain-\(chains)"], rotations: chainRotations, clock: clock)
        keys.publication.publish(custody.keys)
    }

    /// As logrotate does: the file is moved away, and the server told.
    private func turnAuditLog() throws {
        let moved = scratch["audit.log.1"]
        try FileManager.default.moveItem(atPath: scratch["audit.log"], toPath: moved)
        audit.reopen()
        // Behind it in the queue.
        #expect(
            audit.recordAndWait(
                AuditEntry("rotate", .done, identity: nil, request: "turn", address: nil, moment: clock.now)))
        largestSegment = max(largestSegment, try YearKeys.size(moved))
        try prove(moved)
        try FileManager.default.removeItem(atPath: moved)
    }

    private func prove(_ path: String) throws {
        var reader = AuditReader(try file.load(responseLifetime: 0, accessLifetime: 0).auditKeys)
        let report = try reader.read(path)
        #expect(report.faults.isEmpty && report.lines > 0, "\(report.faults.prefix(3))")
    }

    private func renewAuditKey() throws {
        _ = try file.update(responseLifetime: .max / 4, accessLifetime: .max / 4) { keys throws(CryptographyError) in
            try keys.addAuditKey()
            return true
        }
        #expect(custody.examine() == nil)
        audit.adopt(try #require(custody.keys.auditKeys.last))
    }

    /// Sizes of everything, by readers that know nothing but the files.
    func look() throws -> [String: Int] {
        var sizes: [String: Int] = [:]
        let read = try file.load(responseLifetime: .max / 4, accessLifetime: .max / 4)
        #expect(read.mark == custody.keys.mark)
        sizes["keys"] = try YearKeys.size(file.path)
        sizes["audit keys"] = read.auditKeys.count
        let copy = scratch["copy.db"]
        try SQLiteBackup.write(scratch["accounts.db"], to: copy)
        let report = try SQLiteMaintenance(copy).check()
        #expect(report.faults.isEmpty && report.accounts == lives.accounts)
        sizes["refreshed"] = report.refreshed
        let connection = try SQLiteConnection(copy, isWriter: false, cache: 64)
        sizes["replies"] = Int(try SQLiteSchema.number("SELECT count(*) FROM replies", connection))
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
        sizes["database"] = try YearKeys.size(scratch["accounts.db"])
        sizes["wal"] = try YearKeys.size(scratch["accounts.db-wal"])
        try prove(scratch["audit.log"])
        sizes["audit"] = largestSegment
        sizes["published"] = keys.count
        #expect(try keys.learned(#require(lives.signer), .response, now: clock.now))
        let chain = try keys.sizes()
        sizes["chain keys"] = chain["keys"]
        // A line for each key, and never more than the metric says.
        let endorsed = (chain["endorsed"] ?? 0) / (PublicKeyText.textSize + " endorsed\n".utf8.count)
        #expect(keys.metric("holdfast_endorsement_room") == 65_536 - endorsed)
        return sizes
    }
}
