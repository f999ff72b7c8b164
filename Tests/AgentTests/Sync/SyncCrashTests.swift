import AgentMessages
import Foundation
import HoldfastAgent
import SyncFormat
import TestSupport
import Testing
import VaultCore

/// Agents that are killed in the middle of rounds, while something carries their files in any order.
@Suite(.seeded) struct SyncCrashTests {
    private static let turns = TestRun.isSoak ? 200 : 12

    @Test func `two homes agree in the end, wherever their agents were killed`() throws {
        let pair = try SyncPair(shares: false)
        var random = SeededGenerator()
        var expected: [String: [UInt8]] = [:]
        for turn in 0..<Self.turns {
            for scratch in [pair.laptop, pair.phone] {
                let agent = try TestAgent(scratch)
                try agent.unlock()
                for number in 0..<Int.random(in: 1...3, using: &random) {
                    let (name, value) = ("\(scratch === pair.laptop) \(turn) \(number)", pattern(turn * 700 + 1))
                    try agent.put(value, name)
                    expected[name] = value
                }
                // A round, and a kill at any of its steps, or behind it.
                let asking = try agent.raw()
                asking.send(Request.sync(.now).head())
                for _ in 0..<Int.random(in: 0...3000, using: &random) { sched_yield() }
                agent.kill()
                let share = Double.random(in: 0...1, using: &random)
                try pair.carry(from: pair.laptopRoad, to: pair.phoneRoad, &random, share: share)
                try pair.carry(from: pair.phoneRoad, to: pair.laptopRoad, &random, share: share)
            }
        }
        let (laptop, phone) = (try TestAgent(pair.laptop), try TestAgent(pair.phone))
        try laptop.unlock()
        try phone.unlock()
        let isSettled = try Patience.wait {
            let one = try laptop.syncNow()
            try pair.carry(from: pair.laptopRoad, to: pair.phoneRoad, &random)
            let other = try phone.syncNow()
            try pair.carry(from: pair.phoneRoad, to: pair.laptopRoad, &random)
            let roads = [one, other].compactMap { $0?.roads.first }
            return one?.words == other?.words && roads.allSatisfy { $0.hitches.isEmpty && $0.problem == nil }
        }
        let states = [try laptop.syncStatus(), try phone.syncStatus()]
        #expect(isSettled, "\(states)")
        for (name, value) in expected {
            #expect(try laptop.get(name) == value && phone.get(name) == value, "\(name)")
        }
    }
}
