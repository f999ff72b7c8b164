import Foundation
import Items
import SecretMemory
import SyncFormat
import SystemCalls
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultHeader
import VaultStorage

@testable import VaultSync

/// A device with a vault of its own, and a folder that it shares.
final class SyncedDevice {
    let place: String
    let road: String
    private(set) var items: ItemStore
    private var memory = RoadMemory()
    private let settings: VaultSettings

    /// - Parameter road: The folder as this device sees it.
    init(_ folder: ScratchFolder, _ name: String, road: String) throws {
        settings = VaultSettings.costsForTests(clock: TestClock())
        place = folder[name]
        self.road = road
        _ = try Vault.create(at: place, passcode: try secret("right"), settings: settings)
        items = try SyncedDevice.open(place, settings)
    }

    /// A second machine with a copy of a device's home, and a folder of its own.
    init(cloned place: String, road: String, of other: SyncedDevice) throws {
        (settings, self.place, self.road) = (other.settings, place, road)
        items = try SyncedDevice.open(place, settings)
    }

    /// Has it use its own folder in place of the one that the copied home names.
    func redirect() throws {
        let home = try home
        try home.write { session throws(VaultError) in try home.setRoad(0, road, in: &session) }
    }

    private static func open(_ place: String, _ settings: VaultSettings) throws -> ItemStore {
        let vault = try Vault(at: place, settings: settings)
        try vault.unlock(passcode: try secret("right"), spending: vault.burnAttempt())
        return ItemStore(vault)
    }

    /// A laptop that has made a group, and a phone that came into it.
    static func pair(_ scratch: ScratchFolder) throws -> (laptop: SyncedDevice, phone: SyncedDevice) {
        let laptop = try SyncedDevice(scratch, "laptop", road: scratch["road"])
        let phone = try SyncedDevice(scratch, "phone", road: scratch["road"])
        try laptop.found()
        try laptop.round()
        try phone.join(laptop)
        return (laptop, phone)
    }

    var home: GroupHome { get throws { try #require(try GroupHome.load(items.vault)) } }

    /// Locks, forgets what it saw of the road, and unlocks.
    /// - Parameter minima: Collections that the unlock may not be enough for.
    func restart(minima: [String: Assurance] = [:]) throws {
        items.vault.lock()
        memory = RoadMemory()
        var settings = settings
        settings.minima = minima
        items = try SyncedDevice.open(place, settings)
    }

    /// Forgets what it saw of the road.
    func forget() { memory = RoadMemory() }

    /// The vault's files as they are now.
    func copy(to copy: String) throws {
        items.vault.lock()
        try FileManager.default.copyItem(atPath: place, toPath: copy)
        try restart()
    }

    /// The home is put back to a copy of it, and nobody says so.
    func putBack(to copy: String) throws {
        items.vault.lock()
        try FileManager.default.removeItem(atPath: place)
        try FileManager.default.copyItem(atPath: copy, toPath: place)
        try restart()
    }

    // MARK: - Sync

    func found() throws {
        let home = try GroupHome.found(in: items.vault, name: "device")
        _ = try FolderRoad.create(at: road, for: home.group)
        _ = try home.add(folder: road)
    }

    /// Comes into the group of another device, by a code.
    func join(_ other: SyncedDevice) throws {
        let code = try InvitationCode.drawBytes()
        let invitation: InvitationID = id(8)
        let inviting = try code.key(for: invitation)
        let joining = try code.key(for: invitation)
        let old = try other.home
        let message = try old.keys.with { keys throws(SyncError) in
            try OpenedInvitation.seal("device", old.roster, under: inviting, by: keys)
        }
        let keys = try MemberKeys.generate()
        let invited = try OpenedInvitation(message.bytes, under: joining)
        let card = try OpenedCard.seal("new", to: invited, under: joining, by: keys)
        let opened = try OpenedCard(card.bytes, to: message, group: old.group, under: inviting)
        let sealed = try old.admit(opened.card.member)
        let answer = try old.welcome(to: opened, with: sealed, under: inviting)
        let welcome = try OpenedWelcome(answer.bytes, to: invited, card: card, under: joining, with: keys)
        let home = try GroupHome.join(welcome, in: items.vault, name: "new", keys: keys)
        _ = try home.add(folder: road)
    }

    /// One round, as after a message of the watch or at an unlock.
    @discardableResult
    func round(now: Int64 = WallClock.milliseconds) throws -> RoundReport {
        try FolderRound.run(home, &memory, now: now)
    }

    // MARK: - What a user does and sees

    func add(_ name: String, _ password: String, in collection: String = Vault.defaultCollection) throws {
        var item = try Item(.login)
        try item.add(.secret, "password", secret(password))
        try items.add(item, as: name, in: collection)
    }

    func set(
        _ name: String, _ value: String, label: String = "password", in collection: String = Vault.defaultCollection
    ) throws {
        try items.change(name, in: collection) { item in
            if let field = item.field(label) {
                try item.set(field, secret(value))
            } else {
                try item.add(.text, label, secret(value))
            }
        }
    }

    func put(_ value: [UInt8], _ name: String) throws {
        try secret(value).withBytes { try items.vault.put(bytes: $0, for: name, replacing: true) }
    }

    func value(_ name: String) throws -> [UInt8] { try items.vault.value(for: name).revealed() }

    func remove(_ name: String, in collection: String = Vault.defaultCollection) throws {
        try items.vault.delete(name, in: collection)
    }

    func move(
        _ name: String, from collection: String = Vault.defaultCollection, to target: String
    ) throws {
        try items.write { session throws(VaultError) in
            try session.rename(name, in: collection, to: name, in: target, replacing: false)
        }
    }

    /// The password of an item in a collection.
    func password(_ name: String, in collection: String) throws -> String? {
        guard try items.vault.contains(name, in: collection) else { return nil }
        let item = try items.item(name, in: collection)
        return item.field("password").map { field in item.withValue(of: field) { $0.array.text } }
    }

    /// Everything that is shown, as texts.
    func shown() throws -> [String: String] {
        var all: [String: String] = [:]
        // What was removed by others is in the own trash, where nobody else looks.
        for record in try items.vault.records()
        where record.name.utf8.first != 0 && record.collection == Vault.defaultCollection {
            guard record.isItem else {
                all[record.name] = "\(try value(record.name).hashValue)"
                continue
            }
            let item = try items.item(record.name)
            all[record.name] = item.fields.map { field in
                "\(field.label)=\(item.withValue(of: field) { $0.array.text })"
            }.joined(separator: " ")
        }
        return all
    }
}

/// What lies in the folder.
extension SyncedDevice {
    /// The paths of its entries, in order.
    func entries() throws -> [String] {
        let folder = "\(road)/s/\(try home.stream)"
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { "\(folder)/\($0)" }
    }

    func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: road).sorted()
    }

    /// Carries some of what the other folder has not, in any order.
    func carry(to target: SyncedDevice, _ generator: inout SeededGenerator, share: Double = 1) throws {
        guard self !== target else { return }
        for name in try files().shuffled(using: &generator) {
            guard Double.random(in: 0..<1, using: &generator) < share else { continue }
            let (from, to) = ("\(road)/\(name)", "\(target.road)/\(name)")
            var isFolder: ObjCBool = false
            guard unsafe FileManager.default.fileExists(atPath: from, isDirectory: &isFolder), !isFolder.boolValue,
                !FileManager.default.fileExists(atPath: to)
            else { continue }
            try FileManager.default.createDirectory(
                atPath: (to as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: from, toPath: to)
        }
    }
}

/// Rounds until nobody has anything new.
func settle(_ devices: SyncedDevice..., rounds: Int = 12) throws {
    for _ in 0..<rounds {
        var isQuiet = true
        for device in devices {
            let report = try device.round()
            if report.given + report.taken + report.published > 0 { isQuiet = false }
        }
        if isQuiet { return }
    }
    Issue.record("the devices do not come to rest")
}
