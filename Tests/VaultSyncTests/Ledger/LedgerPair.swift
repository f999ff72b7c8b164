import Foundation
import Items
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultHeader
import VaultStorage
import VaultSync

/// A vault with its ledger, and the entries that it wrote: what a road would carry.
final class LedgerDevice {
    let items: ItemStore
    let ledger: SyncLedger
    private let home: String
    private(set) var stream: StreamID
    /// The states of each entry, in order.
    private(set) var entries: [[SyncState]] = []
    /// What had been taken of the others when each entry was written.
    private var heads: [[StreamID: Int]] = []
    /// How many entries of each other device were taken.
    private var taken: [StreamID: Int] = [:]
    /// Of streams that are cut off the last entry that counts.
    private(set) var counting: [StreamID: UInt64] = [:]
    /// By this device's clock.
    var time: Int64 = 1_000_000

    init(_ folder: ScratchFolder, _ number: UInt8, from backup: String? = nil) throws {
        let passcode = try secret("right")
        let settings = VaultSettings.costsForTests(clock: TestClock())
        home = folder["device-\(number)"]
        if let backup {
            _ = try Vault.restore(from: backup, to: home)
        } else {
            _ = try Vault.create(at: home, passcode: passcode, settings: settings)
        }
        let vault = try Vault(at: home, settings: settings)
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        items = ItemStore(vault)
        ledger = SyncLedger(vault, nameKey: try NameKey(secret([UInt8](repeating: 9, count: 32))))
        stream = try #require(StreamID([UInt8](repeating: number, count: 16)))
    }

    /// What an earlier copy of another device's home opens as.
    private init(_ home: String, of other: LedgerDevice) throws {
        let passcode = try secret("right")
        let vault = try Vault(at: home, settings: .costsForTests(clock: TestClock()))
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        self.home = home
        items = ItemStore(vault)
        ledger = SyncLedger(vault, nameKey: try NameKey(secret([UInt8](repeating: 9, count: 32))))
        (stream, entries, heads, taken) = (other.stream, other.entries, other.heads, other.taken)
    }

    /// A second life from now on: both write one stream.
    func copied(to path: String) throws -> LedgerDevice {
        try FileManager.default.copyItem(atPath: home, toPath: path)
        return try LedgerDevice(path, of: self)
    }

    /// Begins a new stream: the old one has other entries of the same numbers.
    func begin(_ new: UInt8, after last: Int) throws {
        let (old, number) = (stream, UInt64(last))
        var ids = Set(try ledger.itemsToRebase(of: old, after: number))
        for state in entries[last...].joined() {
            ids.insert(try state.bytes.withBytes { try StateJoin.id(of: $0, within: heads(old, .max)) })
        }
        stream = try #require(StreamID([UInt8](repeating: new, count: 16)))
        (entries, heads) = ([], [])
        taken[old] = last
        try amend(ids.sorted()) { ids, stamp, session throws(VaultError) in
            try self.ledger.rebase(ids, of: old, after: number, at: stamp, in: &session)
        }
        #expect(try ledger.itemsToRebase(of: old, after: number).isEmpty)
    }

    /// Takes nothing more of a stream, and over what it has of entries that do not count.
    func cut(_ stream: StreamID, after last: Int) throws {
        counting[stream] = UInt64(last)
        let writers = Set(taken.keys).union(counting.keys).union([stream])
        let ids = try ledger.itemsToAdopt(after: counting, saying: writers)
        try amend(ids) { ids, stamp, session throws(VaultError) in
            try self.ledger.adopt(ids, after: self.counting, saying: writers, at: stamp, in: &session)
        }
        var states: [SyncState] = []
        try items.write { session throws(VaultError) in
            states = try self.ledger.adopt(
                ids, after: self.counting, saying: nil, at: self.stamp, in: &session)
        }
        #expect(states.isEmpty, "what was adopted is adopted again")
    }

    /// One item in each transaction and entry, so that there are several.
    private func amend(
        _ ids: [SyncItemID],
        _ body: ([SyncItemID], Stamp, inout WriteSession) throws(VaultError) -> [SyncState]
    ) throws {
        let shown = try self.shown()
        for id in ids {
            let stamp = stamp
            var states: [SyncState] = []
            try items.write { session throws(VaultError) in states = try body([id], stamp, &session) }
            if !states.isEmpty { append(states) }
        }
        #expect(try self.shown() == shown && ledger.differences().found.isEmpty, "what is shown changed")
    }

    private var stamp: Stamp { Stamp(Dot(stream, UInt64(entries.count + 1)), time: time) }

    /// Writes what differs as an entry.
    func publish() throws {
        time += 1000
        let comparison = try ledger.differences()
        guard !comparison.found.isEmpty else { return }
        var states: [SyncState] = []
        try items.write { session throws(VaultError) in
            states = try ledger.write(comparison.found, displaced: comparison.displaced, at: stamp, in: &session)
        }
        if !states.isEmpty { append(states) }
        #expect(try ledger.differences().found.isEmpty, "what was written still differs")
    }

    /// Takes all that another device wrote and that was not taken yet.
    func take(from other: LedgerDevice) throws {
        for index in taken[other.stream, default: 0]..<other.entries.count {
            // As a reader of a road: not before all that its writer had seen.
            let isCausal = other.heads[index].allSatisfy {
                $0.key == stream || counting[$0.key] != nil || taken[$0.key, default: 0] >= $0.value
            }
            guard isCausal, counting[other.stream].map({ index < Int($0) }) != false else { return }
            try publish()
            let comparison = try ledger.differences()
            var again: [SyncState] = []
            try items.write { session throws(VaultError) in
                again = try ledger.take(
                    other.entries[index], heads: heads(other.stream, index + 1), after: comparison,
                    counting: counting, at: stamp, in: &session)
            }
            #expect(try ledger.differences().found.isEmpty, "what was taken differs")
            taken[other.stream] = index + 1
            if !again.isEmpty { append(again) }
        }
    }

    private func append(_ states: [SyncState]) {
        entries.append(states)
        heads.append(taken)
    }

    /// What was taken, of one stream up to an entry.
    func heads(_ stream: StreamID, _ number: Int) -> [StreamID: UInt64] {
        var heads = taken.mapValues(UInt64.init)
        heads[self.stream] = UInt64(entries.count)
        heads[stream] = UInt64(number)
        for stream in counting.keys { heads[stream] = .max }
        return heads
    }

    // What a user sees

    func add(_ name: String, _ password: String) throws {
        var item = try Item(.login)
        try item.add(.secret, "password", secret(password))
        try items.add(item, as: name)
    }

    func set(_ name: String, _ label: String, _ value: String) throws {
        try items.change(name) { item in
            if let field = item.field(label) {
                try item.set(field, secret(value))
            } else {
                try item.add(.text, label, secret(value))
            }
        }
    }

    func put(_ value: String, _ name: String) throws {
        try secret(value).withBytes { try items.vault.put(bytes: $0, for: name, replacing: true) }
    }

    func text(_ name: String, _ label: String = "password") throws -> String? {
        let item = try items.item(name)
        guard let field = item.field(label) else { return nil }
        return item.withValue(of: field) { $0.array.text }
    }

    func names() throws -> [String] { try items.vault.records().map(\.name) }

    /// Everything that is shown, as texts.
    func shown() throws -> [String: String] {
        var all: [String: String] = [:]
        for record in try items.vault.records() {
            let item = try items.item(record.name)
            all[record.name] = item.fields.map { field in
                "\(field.label)=\(item.withValue(of: field) { $0.array.text })"
            }.joined(separator: " ")
        }
        return all
    }
}

/// Lets devices take everything from each other until nothing is left.
func settle(_ devices: LedgerDevice...) throws {
    for _ in 0..<4 {
        for device in devices { try device.publish() }
        for device in devices {
            for other in devices where other !== device { try device.take(from: other) }
        }
    }
}
