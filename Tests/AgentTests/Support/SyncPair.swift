import Foundation
import HoldfastAgent
import Items
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultCore
import VaultFormat

@testable import VaultSync

/// Two homes in one group, each with its way to the group's folder.
final class SyncPair {
    let laptop: Scratch
    let phone: Scratch
    let folders: ScratchFolder

    /// - Parameter shares: Whether both have the same folder; else somebody has to carry files between the two.
    init(shares: Bool = true) throws {
        (laptop, phone, folders) = (try Scratch(), try Scratch(), try ScratchFolder("sync"))
        laptopRoad = folders["laptop"]
        phoneRoad = shares ? folders["laptop"] : folders["phone"]
        let first = try Self.open(laptop)
        let home = try GroupHome.found(in: first, name: "laptop")
        _ = try FolderRoad.create(at: laptopRoad, for: home.group)
        _ = try home.add(folder: laptopRoad)
        if !shares { _ = try FolderRoad.create(at: phoneRoad, for: home.group) }
        let second = try Self.open(phone)
        try Self.join(second, first, road: phoneRoad)
        for vault in [first, second] { vault.lock() }
    }

    let laptopRoad: String
    let phoneRoad: String

    private static func open(_ scratch: Scratch) throws -> Vault {
        let vault = try scratch.vault()
        try vault.unlock(passcode: secret("right"), spending: vault.burnAttempt())
        return vault
    }

    private static func join(_ vault: Vault, _ other: Vault, road: String) throws {
        let code = try InvitationCode.drawBytes()
        let invitation = try #require(InvitationID([UInt8](repeating: 8, count: 16)))
        let inviting = try code.key(for: invitation)
        let joining = try code.key(for: invitation)
        let old = try #require(try GroupHome.load(other))
        let message = try old.keys.with { keys throws(SyncError) in
            try OpenedInvitation.seal("laptop", old.roster, under: inviting, by: keys)
        }
        let keys = try MemberKeys.generate()
        let invited = try OpenedInvitation(message.bytes, under: joining)
        let card = try OpenedCard.seal("phone", to: invited, under: joining, by: keys)
        let opened = try OpenedCard(card.bytes, to: message, group: old.group, under: inviting)
        let sealed = try old.admit(opened.card.member)
        let answer = try old.welcome(to: opened, with: sealed, under: inviting)
        let welcome = try OpenedWelcome(answer.bytes, to: invited, card: card, under: joining, with: keys)
        let home = try GroupHome.join(welcome, in: vault, name: "phone", keys: keys)
        _ = try home.add(folder: road)
    }

    /// As another process reads it.
    func home<R>(_ scratch: Scratch, _ body: (GroupHome) throws -> R) throws -> R {
        let vault = try Self.open(scratch)
        defer { vault.lock() }
        return try body(try #require(try GroupHome.load(vault)))
    }

    /// As another process reads it.
    func value(_ name: String, of scratch: Scratch) throws -> [UInt8] {
        let vault = try Self.open(scratch)
        defer { vault.lock() }
        return try vault.value(for: name).revealed()
    }

    /// What lies in a folder, in order.
    func files(_ road: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: road).filter { $0.contains("-") && !$0.contains(".part-") }
            .sorted()
    }

    /// Carries some of what the other folder has not, in any order, as a tool does that is stopped in the middle.
    func carry(from source: String, to target: String, _ generator: inout SeededGenerator, share: Double = 1) throws {
        for name in try files(source).shuffled(using: &generator) {
            guard Double.random(in: 0..<1, using: &generator) < share, !name.contains(".part-") else { continue }
            let (from, to) = ("\(source)/\(name)", "\(target)/\(name)")
            guard !FileManager.default.fileExists(atPath: to) else { continue }
            try FileManager.default.createDirectory(
                atPath: (to as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: from, toPath: to)
        }
    }

    /// The keys that an unlocked device has of its group, with what each is called.
    func keys(of scratch: Scratch) throws -> [(name: String, bytes: [UInt8])] {
        try home(scratch) { home in
            var keys: [(String, [UInt8])] = []
            for held in home.rosters.values {
                keys.append(("the group's key", try held.key.with { key in key.withBytes { $0.array } }))
            }
            keys.append(("the key of names", try home.ledger.nameKey.with { key in key.bytes.withBytes { $0.array } }))
            let scalars = try home.keys.with { keys throws(SyncError) in try keys.bytes() }
            let both = scalars.withBytes { $0.array }
            keys.append(("the device's signing key", Array(both.prefix(32))))
            keys.append(("the device's box key", Array(both.suffix(32))))
            return keys
        }
    }

    /// Gives a device another road.
    func addRoad(_ path: String, to scratch: Scratch) throws {
        try home(scratch) { home in
            _ = try FolderRoad.create(at: path, for: home.group)
            _ = try home.add(folder: path)
        }
    }

    /// The paths of a device's entries, in order.
    func entries(_ scratch: Scratch) throws -> [String] {
        let stream = try home(scratch) { "\($0.stream)" }
        let folder = "\(scratch === laptop ? laptopRoad : phoneRoad)/s/\(stream)"
        return (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { "\(folder)/\($0)" }) ?? []
    }
}

extension TestAgent {
    func syncNow() throws -> SyncStatus? {
        let client = try client()
        return try client.syncNow()
    }

    func syncStatus() throws -> SyncStatus? {
        let client = try client()
        return try client.syncStatus()
    }

    /// Waits until a value is there, which somebody else brings.
    func comes(_ name: String, _ value: [UInt8]) -> Bool { Patience.wait { (try? get(name)) == value } }

    /// How often its threads have waited for something: whoever sleeps on has the same number later.
    var switches: Int {
        let folder = "/proc/\(pid)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let counts = threads.compactMap { thread -> Int? in
            let text = try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)
            let line = text?.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) }
        }
        return counts.reduce(threads.count * 1_000_000, +)
    }

    /// How many of its descriptors are watches.
    var watches: Int {
        let folder = "/proc/\(pid)/fd"
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return numbers.count { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")
            return target?.contains("inotify") ?? false
        }
    }
}
