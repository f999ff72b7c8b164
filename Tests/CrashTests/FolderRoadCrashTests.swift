#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import RealParts
import SyncFormat
import TestSupport
import Testing
import VaultSync

/// Every call that changes a sync folder fails in turn, or is the writer's last.
@Suite(.seeded, .serialized) struct FolderRoadCrashTests {
    @Test(arguments: Fault.allCases)
    func `a fault at any call leaves whole files, and the next run does the rest`(fault: Fault) throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("road \(fault.rawValue)")
        let disk = FaultyDisk(scratch: scratch)
        let path = scratch["road"]
        let arguments = ["road", path, scratch.clock.path]
        let calls = try disk.calls(of: arguments, under: path)
        let chosen = FaultyDisk.choose(calls, 60, fault, using: &generator)
        var (parts, unfinished) = (0, 0)
        for call in chosen {
            try? FileManager.default.removeItem(atPath: path)
            let context = "\(fault.rawValue), \(FaultyDisk.name(call, in: calls))"
            let environment = fault.environment(at: call, seed: generator.next() >> 2)
            let lines = try disk.run(arguments, under: path, environment)
            let done = try FolderRoadCrashTests.done(lines, fault, context)
            let there = try FolderRoadCrashTests.whole(path, context)
            FolderRoadCrashTests.compare(done, there, hasBegunToRemove: lines.contains("begin remove"), context)
            if fault.isSurvived { #expect(lines.last == "end", "\(context)") }

            let again = try disk.run(arguments, under: path, [:])
            #expect(again.last == "end" && !again.contains { $0.hasPrefix("failed") }, "\(context)\n\(again)")
            let names = try FolderRoadCrashTests.whole(path, context)
            #expect(names == FolderRoadCrashTests.final, "\(context)")
            parts += try FolderRoadCrashTests.removeParts(path, context)
            unfinished += done.contains("remove") ? 0 : 1
        }
        #expect(unfinished > 0 || fault == .inputOutput)
        TestRun.report(
            "road, \(fault.rawValue)",
            "\(chosen.count) of \(calls.count) calls, \(unfinished) runs cut short, \(parts) parts left and removed")
    }

    /// The steps that were acknowledged.
    private static func done(_ lines: [String], _ fault: Fault, _ context: String) throws -> Set<String> {
        var done: Set<String> = []
        var step = ""
        for line in lines {
            if line.hasPrefix("begin ") { step = String(line.dropFirst(6)) }
            if line == "done" { done.insert(step) }
            if line.hasPrefix("failed ") { #expect(line == "failed \(fault.code ?? "")", "\(step); \(context)") }
        }
        return done
    }

    /// Paths of the script's files.
    private static func path(_ file: OwnFile) -> String {
        switch file {
        case .entry(let name): RoadFile.entry(RoadScript.stream, name).path
        case .piece(let name): RoadFile.piece(RoadScript.stream, name).path
        case .roster(let name): RoadFile.roster(name).path
        case .join(let name): RoadFile.join(name).path
        }
    }

    private static let expected: [String: [UInt8]] = {
        var all = Dictionary(uniqueKeysWithValues: RoadScript.files.map { (path($0.file), $0.bytes) })
        if let name = RoadScript.rosterName { all[RoadFile.roster(name).path] = RoadScript.roster }
        if let name = RoadScript.cardName { all[RoadFile.join(name).path] = RoadScript.card }
        all["HOLDFAST-SYNC"] = RoadMarker.bytes(of: RoadScript.group)
        return all
    }()

    private static let removed: Set<String> = [path(RoadScript.files[2].file), path(RoadScript.files[3].file)]

    private static var final: Set<String> { Set(expected.keys).subtracting(removed) }

    /// The files that are there under names of ours, each of which is whole. Anything else may only be a part.
    private static func whole(_ road: String, _ context: String) throws -> Set<String> {
        var found: Set<String> = []
        for case let name as String in FileManager.default.enumerator(atPath: road)?.allObjects ?? [] {
            guard let bytes = FileManager.default.contents(atPath: "\(road)/\(name)"), !isFolder("\(road)/\(name)")
            else {
                continue
            }
            if (name as NSString).lastPathComponent.utf8.starts(with: ".part-".utf8) { continue }
            #expect(expected[name].map { Array(bytes) == $0 } == true, "\(name) is not whole; \(context)")
            found.insert(name)
        }
        return found
    }

    private static func isFolder(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType) == .typeDirectory
    }

    private static func compare(
        _ done: Set<String>, _ there: Set<String>, hasBegunToRemove: Bool, _ context: String
    ) {
        var promised: Set<String> = done.contains("create") ? ["HOLDFAST-SYNC"] : []
        for first in stride(from: 0, to: RoadScript.files.count, by: 2) where done.contains("\(first)") {
            promised.formUnion(RoadScript.files[first..<first + 2].map { path($0.file) })
        }
        if done.contains("roster"), let name = RoadScript.rosterName { promised.insert(RoadFile.roster(name).path) }
        if done.contains("card"), let name = RoadScript.cardName { promised.insert(RoadFile.join(name).path) }
        if hasBegunToRemove { promised.subtract(removed) }
        #expect(promised.subtracting(there) == [], "acknowledged and lost; \(context)")
        if done.contains("remove") { #expect(there.isDisjoint(with: removed), "removed and back; \(context)") }
    }

    /// Takes away what killed writers left, two days later.
    /// - Returns: How many parts lay in the stream's folders.
    private static func removeParts(_ path: String, _ context: String) throws -> Int {
        let road = try FolderRoad(opening: path, of: RoadScript.group)
        let later = Int64(Date().timeIntervalSince1970 * 1000) + 2 * 24 * 3600 * 1000
        let count = try RoadWriter(road, of: RoadScript.stream).removeOldParts(now: later)
        #expect(count <= 2, "\(context)")
        var memory = RoadMemory()
        #expect(try road.list(&memory).problems == [:])
        return count
    }

    @Test(.enabled(if: Mounted.isAllowed, "SKIPPED: nothing can be mounted here, so a full disk was only simulated"))
    func `a full disk stops writing and nothing else`() throws {
        let scratch = try Scratch()
        let disk = scratch["disk"]
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        let mounting = "mount -t tmpfs -o size=200k tmpfs '\(disk)'"
        try FolderRoadCrashTests.run("road-full", "\(disk)/road", scratch, mounting, steps: 7)
    }

    @Test(
        .enabled(if: Mounted.isAllowed, "SKIPPED: nothing can be mounted here, so a read-only disk was only simulated"))
    func `a read-only road is read`() throws {
        let scratch = try Scratch()
        let disk = scratch["disk"]
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        let child = try Child(["road", scratch["road"], scratch.clock.path])
        #expect(try child.rest().last == "end")
        let mounting = "mount --bind '\(scratch["road"])' '\(disk)' && mount -o remount,bind,ro '\(disk)'"
        try FolderRoadCrashTests.run("road-read", disk, scratch, mounting, steps: 3)
    }

    /// A system with so few watches left: in a name space of users the limit is its own.
    private static func watching(_ road: String, _ scratch: Scratch, watches: Int) throws -> [String] {
        let setting = "echo \(watches) > /proc/sys/user/max_inotify_watches || exit 99; exec \"$0\" \"$@\""
        let subject = ["\(Child.products)/CrashSubject", "road-watch", road, scratch.clock.path]
        let child = try Child(["--user", "--map-root-user", "sh", "-c", setting] + subject, command: "unshare")
        return try child.rest()
    }

    private static let canLimitWatches: Bool = {
        let command = ["--user", "--map-root-user", "sh", "-c", "echo 1 > /proc/sys/user/max_inotify_watches"]
        return (try? Child(command, command: "unshare").wait()) == .exited(0)
    }()

    @Test(.enabled(if: canLimitWatches, "SKIPPED: no name space of users can be made here"))
    func `where no watches are left the road is listed`() throws {
        let scratch = try Scratch()
        let road = scratch["road"]
        let child = try Child(["road", road, scratch.clock.path])
        #expect(try child.rest().last == "end")
        // The road, `s`, `rosters` and one stream.
        #expect(try FolderRoadCrashTests.watching(road, scratch, watches: 4) == ["events"])
        for few in 0...3 {
            let lines = try FolderRoadCrashTests.watching(road, scratch, watches: few)
            #expect(lines == ["listings system \(ENOSPC)"], "\(few)")
        }
    }

    private static func run(
        _ mode: String, _ folder: String, _ scratch: Scratch, _ mounting: String, steps: Int
    ) throws {
        let words = Mounted.words(mounting) + ["\(Child.products)/CrashSubject", mode, folder, scratch.clock.path]
        let child = try Child(Array(words.dropFirst()), command: words[0])
        let lines = try child.rest()
        #expect(child.wait() == .exited(0))
        #expect(lines.last == "end")
        #expect(lines.filter { !$0.hasPrefix("held ") && $0 != "end" } == [])
        #expect(lines.filter { $0.hasPrefix("held ") }.count == steps)
    }
}
#endif
