import Foundation
import HoldfastAgent
import MemorySearch
import TestSupport
import Testing

/// After a lock nothing of the group is left anywhere in the process.
@Suite(.serialized, .enabled(if: Needles.canSearch, Needles.cannotSearch))
struct SyncForgettingTests {
    @Test(arguments: ["hidden", "locked"])
    func `an agent that has synced forgets the group's keys and what came`(_ memory: String) throws {
        let pair = try SyncPair()
        let parts = ForgettingTests.memories[memory] ?? [:]
        let (laptop, phone) = (try TestAgent(pair.laptop, parts: parts), try TestAgent(pair.phone, parts: parts))
        var needles = Needles()
        for (name, bytes) in try pair.keys(of: pair.laptop) + pair.keys(of: pair.phone) {
            needles.add(key: bytes, name)
        }
        for round in 0..<3 {
            try laptop.unlock()
            try phone.unlock()
            for (name, size) in [("small", 40), ("large", 60_000)] {
                let (name, value) = ("\(name) \(Scene.letters(20))", Array(Scene.letters(size).utf8))
                needles.add(value, "a value of \(size) bytes")
                needles.add(Array(name.utf8.suffix(20)), "a name")
                try laptop.put(value, name)
                _ = try laptop.syncNow()
                #expect(phone.comes(name, value))
            }
            for agent in [laptop, phone] {
                try agent.lock()
                let (found, extent) = try needles.search(agent.pid)
                #expect(found.isEmpty, "round \(round):\n\(found.joined(separator: "\n"))")
                #expect(extent.threads > 0)
            }
        }
    }
}
