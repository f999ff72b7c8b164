import Cryptography
package import SyncFormat
import SystemCalls
package import VaultSync

/// What a device leaves in a sync folder: known files, of one stream.
package enum RoadScript {
    package static let group = id(1, SyncGroup.self)
    package static let stream = id(2, SyncStream.self)

    /// In the order in which they are written.
    package static let files: [(file: OwnFile, bytes: [UInt8])] = (1...6).flatMap { number in
        [piece(UInt8(number)), entry(UInt64(number), size: 1024 << (number % 3))].compactMap { $0 }
    }
    package static let roster = bytes(4096, 7)
    package static let card = bytes(1024, 8)

    package static var rosterName: RosterFileName? { RosterFileName(number: 1, hash: hash(roster)) }

    package static var cardName: JoinFileName? {
        JoinFileName(invitation: id(3, SyncInvitation.self), message: .card, hash: hash(card))
    }

    package static func entry(_ number: UInt64, size: Int = 1024) -> (file: OwnFile, bytes: [UInt8])? {
        let bytes = bytes(size, UInt8(truncatingIfNeeded: number))
        return EntryFileName(number: number, hash: hash(bytes)).map { (.entry($0), bytes) }
    }

    private static func piece(_ number: UInt8) -> (file: OwnFile, bytes: [UInt8])? {
        let bytes = bytes(PieceList.sealedSize, number)
        return PieceFileName(id: hash(bytes)).map { (.piece($0), bytes) }
    }

    private static func bytes(_ count: Int, _ seed: UInt8) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) ^ seed }
    }

    private static func hash(_ bytes: [UInt8]) -> [UInt8] { unsafe BLAKE3.hash(bytes.span.bytes).bytes }

    private static func id<Named>(_ byte: UInt8, _: Named.Type) -> SyncID<Named> {
        guard let id = SyncID<Named>([UInt8](repeating: byte, count: 16)) else { preconditionFailure() }
        return id
    }
}

/// Writes the script's files to a folder.
enum RoadWrites {
    private struct Missing: Error {}

    /// Lines: `begin STEP`, `done` or `failed CODE`, and `end`. Steps: `create`, a number for each two of the files,
    /// `roster`, `card`, `repair`, `remove`.
    static func script(_ folder: String) throws {
        var made: FolderRoad?
        guard Report.step("create", { made = try FolderRoad.create(at: folder, for: RoadScript.group) }),
            let road = made
        else { return Report.line("end") }
        let writer = RoadWriter(road, of: RoadScript.stream)
        for first in stride(from: 0, to: RoadScript.files.count, by: 2) {
            Report.step("\(first)") { try written(writer.write(Array(RoadScript.files[first..<first + 2]))) }
        }
        Report.step("roster") {
            guard let name = RoadScript.rosterName else { throw Missing() }
            try written([writer.write(.roster(name), RoadScript.roster)])
        }
        Report.step("card") {
            guard let name = RoadScript.cardName else { throw Missing() }
            try written([road.write(name, RoadScript.card)])
        }
        Report.step("repair") { try writer.repair(RoadScript.files[1].file, RoadScript.files[1].bytes) }
        Report.step("remove") {
            guard try writer.remove([RoadScript.files[3].file, RoadScript.files[2].file]).isEmpty else {
                throw Missing()
            }
        }
        Report.line("end")
    }

    private static func written(_ results: [RoadWritten]) throws {
        guard results.allSatisfy({ $0 != .differs }) else { throw Missing() }
    }

    /// A disk that gets full. Lines: `held WHAT` or `broken WHAT: WHY`, and `end`.
    static func fill(_ folder: String) throws {
        let road = try FolderRoad.create(at: folder, for: RoadScript.group)
        let writer = RoadWriter(road, of: RoadScript.stream)
        var files: [(file: OwnFile, bytes: [UInt8])] = []
        let isFull = refused(.diskFull) {
            for number in 1...10_000 {
                guard let next = RoadScript.entry(UInt64(number)) else { throw Missing() }
                try written([writer.write(next.file, next.bytes)])
                files.append(next)
            }
        }
        SmallDisk.check("the full disk is told") { isFull && files.count > 5 }
        SmallDisk.check("what was written is there") { try count(road) == files.count }
        SmallDisk.check("writing it again needs no room") {
            try writer.write(files).allSatisfy { $0 == .alreadyThere }
        }
        SmallDisk.check("a repair without room is told") {
            refused(.diskFull) { try writer.repair(files[0].file, files[0].bytes) }
        }
        SmallDisk.check("nothing is left over") {
            var memory = RoadMemory()
            _ = try road.list(&memory)
            return memory.passedOver == [:]
        }
        SmallDisk.check("files can be removed") { try writer.remove(files.prefix(3).map(\.file)).isEmpty }
        SmallDisk.check("and written again") {
            try writer.write(Array(files.prefix(2))) == [.written, .written] && count(road) == files.count - 1
        }
        Report.line("end")
    }

    /// A road that may only be read; lines as of ``fill(_:)``.
    static func readOnly(_ folder: String) throws {
        let road = try FolderRoad(opening: folder, of: RoadScript.group)
        let writer = RoadWriter(road, of: RoadScript.stream)
        SmallDisk.check("a read-only road is read") { try count(road) > 0 }
        SmallDisk.check("writing to it is told") {
            guard let next = RoadScript.entry(1000) else { return false }
            return refused(.readOnly) { _ = try writer.write(next.file, next.bytes) }
        }
        SmallDisk.check("removing from it is told") {
            refused(.readOnly) { _ = try writer.remove([RoadScript.files[1].file]) }
        }
        Report.line("end")
    }

    /// Line: `events`, or `listings` and why.
    static func watch(_ folder: String) throws {
        switch try FolderRoad(opening: folder, of: RoadScript.group).watch() {
        case .events: Report.line("events")
        case .listings(.system(let error)): Report.line("listings system \(error.number)")
        case .listings(let reason): Report.line("listings \(reason)")
        }
    }

    /// How many entries are whole.
    private static func count(_ road: FolderRoad) throws -> Int {
        var memory = RoadMemory()
        let news = try road.list(&memory)
        return try (news.entries[RoadScript.stream] ?? []).count { name in
            guard case .bytes = try road.read(.entry(RoadScript.stream, name), &memory) else { return false }
            return true
        }
    }

    private static func refused(_ expected: RoadError, _ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch { return error as? RoadError == expected }
    }
}
