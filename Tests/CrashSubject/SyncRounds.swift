internal import SyncFormat
internal import SystemCalls
internal import SecretMemory
internal import VaultCore
internal import VaultStorage
package import VaultSync

/// A group of two vaults with one folder, for rounds that are cut short.
package enum SyncRounds {
    package static let names = ["laptop", "phone"]

    /// Makes both, `laptop` with the group and what it wrote since its last round; `phone` has given something, too.
    package static func prepare(_ folder: String, _ clock: FileClock) throws {
        var vaults: [Vault] = []
        for name in names {
            try Vault.createKnown("\(folder)/\(name)", clock)
            let vault = try Vault.known("\(folder)/\(name)", clock)
            try vault.unlock(0)
            vaults.append(vault)
        }
        let road = "\(folder)/road"
        let home = try GroupHome.found(in: vaults[0], name: names[0])
        _ = try FolderRoad.create(at: road, for: home.group)
        let place = try home.add(folder: road)
        let invitation = try FolderInvitation(home, over: place, InvitationCode.drawBytes(), uptime: 0)
        let joining = try invitation.code.withBytes { code in
            try FolderJoining(folder: road, name: names[1], InvitationCode.scanned(SecretBytes(copying: code)))
        }
        guard try joining.lookForInvitation() else { throw Failure.notJoined }
        try invitation.admit(into: vaults[0], areEqual: true, uptime: 0)
        guard try joining.lookForWelcome() != nil else { throw Failure.notJoined }
        _ = try joining.join(vaults[1])
        for (vault, first) in zip(vaults, [0, 10]) {
            try set(vault, first..<first + 4)
            _ = try FolderRound.runAll(vault)
        }
        // Of the laptop: changed, removed and new ones, small and in pieces.
        try set(vaults[0], 2..<7)
        try vaults[0].delete("value 0")
        for vault in vaults { vault.lock() }
    }

    private enum Failure: Error { case notJoined }

    private static func set(_ vault: Vault, _ numbers: Range<Int>) throws {
        for number in numbers {
            // Some larger than an entry.
            let content = Content(seed: UInt64(number + 1), size: number % 2 == 0 ? 100 : 50_000).bytes()
            try unsafe vault.put(bytes: content.span.bytes, for: "value \(number)", replacing: true)
        }
    }

    /// One round over the first road.
    ///
    /// Lines: `begin round`, then `done`; `end`.
    static func round(_ home: String, _ clock: FileClock) throws {
        Report.step("round") {
            let vault = try Vault.known(home, clock)
            try vault.unlock(0)
            guard let group = try GroupHome.load(vault) else { throw Failure.notJoined }
            var memory = RoadMemory()
            _ = try FolderRound.run(group, &memory)
            vault.lock()
        }
        Report.line("end")
    }

    /// A round that must come to its end, and what the vault shows after it.
    package static func shown(_ home: String, _ clock: FileClock) throws -> (
        report: RoundReport, values: [String: [UInt8]]
    ) {
        let vault = try Vault.known(home, clock)
        try vault.unlock(0)
        defer { vault.lock() }
        guard let group = try GroupHome.load(vault) else { throw Failure.notJoined }
        var memory = RoadMemory()
        let report = try FolderRound.run(group, &memory)
        var values: [String: [UInt8]] = [:]
        for record in try vault.records() where record.name.utf8.first != 0 {
            values[record.name] = try vault.value(for: record.name).withBytes { bytes in
                (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
            }
        }
        return (report, values)
    }
}
