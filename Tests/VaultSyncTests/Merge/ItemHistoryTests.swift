import SyncFormat
import TestSupport
import Testing
import VaultFormat
import VaultSync

/// Random edits of one item on three devices, as bytes: what the explorer of the merge walks through with numbers.
@Suite(.seeded) struct ItemHistoryTests {
    private struct Device {
        var state: [UInt8]
        var number: UInt64 = 0
    }

    /// The item that is shown, to be changed.
    private func bench(_ shown: Shown) -> MergeBench {
        var bench = MergeBench()
        bench.name = shown.name
        bench.collection = shown.collection
        bench.fields = shown.fields.map { field in
            let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
            return (parts[0].hasPrefix("p") ? .secret : .text, parts[0], parts[1])
        }
        bench.tags = shown.tags
        bench.notes = shown.notes
        bench.trash = shown.isInTrash ? (2_000, 9_000) : nil
        bench.unknown = shown.unknown.map { ($0[0], Array($0.dropFirst(5))) }
        return bench
    }

    private func change(_ bench: inout MergeBench, _ serial: Int, _ random: inout SeededGenerator) {
        let index = bench.fields.indices.randomElement(using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: bench.name = "name\(serial)"
        case 1: bench.fields.append((.text, "t\(serial % 3)", "v\(serial)"))
        case 2: if let index, bench.fields.count > 1 { bench.fields.remove(at: index) }
        case 3: bench.fields.shuffle(using: &random)
        case 4: bench.tags = bench.tags.isEmpty ? ["secret-service", "work"] : Array(bench.tags.dropFirst())
        case 5: bench.notes = serial % 2 == 0 ? "notes \(serial)" : nil
        case 6: bench.trash = bench.trash == nil ? (2_000, 9_000) : nil
        case 7: if let index { bench.fields[index].1 = "p\(serial % 3)" }
        case 8: bench.unknown = [(UInt8(9 + serial % 2), [UInt8(truncatingIfNeeded: serial)])]
        default: if let index { bench.fields[index].2 = "v\(serial)" }
        }
    }

    @Test func `three devices show the same after any edits and any order of joins`() throws {
        var random = SeededGenerator(seed: TestRun.seed)
        for _ in 0..<TestRun.count(test: 40, check: 1_000, soak: 10_000) {
            let start = try MergeBench().first()
            var devices = [Device](repeating: Device(state: start), count: 3)
            for serial in 0..<Int.random(in: 5...25, using: &random) {
                let device = Int.random(in: 0..<3, using: &random)
                if Bool.random(using: &random) {
                    let other = Int.random(in: 0..<3, using: &random)
                    devices[device].state = try join(devices[device].state, devices[other].state)
                }
                var edited = bench(try Shown(devices[device].state))
                edited.history = []
                change(&edited, serial, &random)
                devices[device].number += 1
                let time = Int64.random(in: 0...10_000, using: &random)
                if let state = try edited.changed(
                    devices[device].state, by: UInt8(device + 1), devices[device].number, time: time)
                {
                    // What was shown is what was written, whatever the other devices' clocks say.
                    let shown = try Shown(state)
                    #expect(shown.fields == edited.fields.map { "\($0.1)=\($0.2)" } && shown.notes == edited.notes)
                    devices[device].state = state
                }
            }
            let orders = [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]]
            let ends = try orders.map { order in
                try join(join(devices[order[0]].state, devices[order[1]].state), devices[order[2]].state)
            }
            for end in ends { #expect(end == ends[0]) }
            _ = try Shown(ends[0])
        }
    }
}
