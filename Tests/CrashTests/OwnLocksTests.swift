#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import Testing
import VaultCore
import VaultStorage

/// Databases that are locked as on Apple's systems, between processes, and little address space, as there.
@Suite(.serialized) struct OwnLocksTests {
    private static let own = ["HOLDFAST_TEST_LOCKS": "own"]

    /// Tries to begin a change without much waiting.
    private static func change(_ database: DatabaseLease) -> VaultError? {
        do throws(VaultError) {
            _ = try WriteTransaction(database, patience: 100)
            return nil
        } catch { return error }
    }

    @Test(arguments: [false, true])
    func `while a process reads another is told, and changes the vault when that has ended`(killed: Bool) throws {
        let scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        let records = 70
        let writer = try Child(
            ["put", scratch.home, scratch.clock.path, "0", "\(records)"], environment: OwnLocksTests.own)
        _ = try writer.rest()
        #expect(writer.wait() == .exited(0))

        let home = try HomeDirectory(path: scratch.home)
        let database = try DatabaseEnvironment.acquire(.protected, in: home, locks: .own)
        #expect(OwnLocksTests.change(database) == nil)
        let reader = try Child(["hold", scratch.home, scratch.clock.path], environment: OwnLocksTests.own)
        #expect(try reader.expect() == "reading")
        let refused = try #require(OwnLocksTests.change(database))
        #expect(refused.code == .busy)
        #expect(refused.reason.contains("another process is using the vault"))
        if killed {
            reader.kill()
        } else {
            try reader.send("go on")
            #expect(try reader.expect() == "done \(records)")
            #expect(reader.wait() == .exited(0))
        }
        #expect(OwnLocksTests.change(database) == nil)
    }

    @Test(arguments: [[:], own])
    func `what another process writes beyond the map is read and written on`(locks: [String: String]) throws {
        let scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        let children = try (0..<2).map { _ in
            try Child(["small-map", scratch.home, scratch.clock.path], environment: locks)
        }
        for child in children { #expect(try child.expect() == "ready") }
        for round in 0..<8 {
            try children[round % 2].send("write \(round)")
            #expect(try children[round % 2].expect() == "wrote")
            try children[1 - round % 2].send("look")
            #expect(try children[1 - round % 2].expect() == "\(4 * (round + 1))")
        }
        for child in children {
            child.closeInput()
            #expect(child.wait() == .exited(0))
        }
    }

    @Test(arguments: [[:], own])
    func `a vault opens in little address space, and loses nothing when there is no more`(locks: [String: String])
        throws
    {
        let scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        let child = try Child(["small-space", scratch.home, scratch.clock.path, "160"], environment: locks)
        let lines = try child.rest()
        #expect(child.wait() == .exited(0))
        #expect(lines.last == "end")
        #expect(lines.filter { $0.hasPrefix("broken") || $0.hasPrefix("error") } == [])
        // What comes after the first one may find as little room.
        #expect(Set(lines.filter { $0.hasPrefix("refused") }) == ["refused outOfMemory"])
        #expect(lines.count { $0 == "done 0" } > 15)
        // Where there is more, everything is there.
        var expected = Acknowledged()
        try expected.follow(lines.filter { $0.hasPrefix("begin ") || $0.hasPrefix("done ") })
        let vault = try Vault.known(scratch.home, scratch.clock)
        try vault.unlock(0)
        #expect(try expected.compare(vault) == nil)
        #expect(try vault.verifyAndClean() == nil)
    }
}
#endif
