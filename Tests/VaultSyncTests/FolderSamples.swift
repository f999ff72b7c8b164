import Cryptography
import Foundation
import SyncFormat
import SystemCalls
import TestSupport
import Testing
import VaultSync

/// A road in a folder of a test's own, and files for it.
struct FolderSamples {
    let scratch: ScratchFolder
    let path: String
    let group: SyncGroupID

    init(_ name: String = "road") throws {
        scratch = try ScratchFolder("road")
        path = scratch[name]
        group = try FolderSamples.groupID(1)
    }

    func create() throws -> FolderRoad { try FolderRoad.create(at: path, for: group) }

    static func groupID(_ byte: UInt8) throws -> SyncGroupID {
        try #require(SyncGroupID([UInt8](repeating: byte, count: 16)))
    }

    static func stream(_ byte: UInt8) throws -> StreamID {
        try #require(StreamID([UInt8](repeating: byte, count: 16)))
    }

    static func hash(_ bytes: [UInt8]) -> [UInt8] { unsafe BLAKE3.hash(bytes.span.bytes).bytes }

    /// An entry's name and bytes, which differ with the seed.
    static func entry(_ number: UInt64, seed: UInt8 = 0, size: Int = 1024) throws -> (
        name: EntryFileName, bytes: [UInt8]
    ) {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: UInt64($0) &* 31 &+ number) ^ seed }
        return (try #require(EntryFileName(number: number, hash: hash(bytes))), bytes)
    }

    static func piece(_ seed: UInt8) throws -> (name: PieceFileName, bytes: [UInt8]) {
        let bytes = [UInt8](repeating: seed, count: PieceList.sealedSize)
        return (try #require(PieceFileName(id: hash(bytes))), bytes)
    }

    static func roster(_ number: UInt32, seed: UInt8 = 0) throws -> (name: RosterFileName, bytes: [UInt8]) {
        let bytes = (0..<4096).map { UInt8(truncatingIfNeeded: UInt32(truncatingIfNeeded: $0) &* 31 &+ number) ^ seed }
        return (try #require(RosterFileName(number: number, hash: hash(bytes))), bytes)
    }

    static func join(
        _ message: JoinFileName.Message, seed: UInt8 = 0
    ) throws -> (name: JoinFileName, bytes: [UInt8]) {
        let bytes = [UInt8](repeating: seed, count: 1024)
        let invitation = try #require(InvitationID([UInt8](repeating: 9, count: 16)))
        return (try #require(JoinFileName(invitation: invitation, message: message, hash: hash(bytes))), bytes)
    }

    /// The path of something on the road.
    subscript(name: String) -> String { "\(path)/\(name)" }

    /// What a sync tool would do: bytes under a name, nothing flushed.
    func bring(_ bytes: [UInt8], as name: String) throws {
        let target = self[name]
        try FileManager.default.createDirectory(
            atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: target))
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: self[name]) }

    func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self[folder]).sorted()
    }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: self[name]))) }

    /// Every regular file below the road, with its bytes.
    func everything() throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for name in FileManager.default.enumerator(atPath: path)?.allObjects.compactMap({ $0 as? String }) ?? [] {
            var status = stat()
            guard unsafe lstat(self[name], &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            found[name] = try bytes(name)
        }
        return found
    }

    static func setTime(_ path: String, secondsAgo: Int) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -Double(secondsAgo))], ofItemAtPath: path)
    }
}
