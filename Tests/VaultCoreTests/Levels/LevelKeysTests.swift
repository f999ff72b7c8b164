import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultLog
@testable import VaultStorage
import VaultHeader

/// What the earlier keys a move of the level tell and allow afterwards: nothing.
@Suite struct LevelKeysTests {
    private static let logNames = ["log", "log.old", "log.new", "log.state"]

    private let home: LevelHome

    init() throws { home = try LevelHome() }

    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(home.path)/\(name)")))
    }

    private func copyLog() -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in Self.logNames { files[name] = try? bytes(name) }
        return files
    }

    private func restoreLog(_ files: [String: [UInt8]]) throws {
        for name in Self.logNames {
            let path = "\(home.path)/\(name)"
            try? FileManager.default.removeItem(atPath: path)
            if let bytes = files[name] { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
        }
    }

    @Test(arguments: DeviceVaultTests.Move.allCases)
    func `log and identity keys of before a move read and prove nothing after it`(_ move: DeviceVaultTests.Move) throws
    {
        let vault = try move.prepare(home)
        let old = try #require(vault.gate.current).keys
        let epoch = old.current.epoch
        let stolen = try old.logKeys().newest
        try move.run(vault)
        try vault.finishRekey()
        vault.appendDrills(3)
        let front = try #require(LogSegment.front(of: bytes("log")))
        #expect(front.epoch == epoch + 1 && stolen.epoch == epoch)
        let log = try bytes("log")
        var key = try stolen.first(of: front.chain)
        let places = Array(stride(from: LogFormat.slotSize, to: log.count, by: LogFormat.slotSize))
        #expect(places.count >= 3)
        for (index, place) in places.enumerated() {
            let slot = Array(log[place..<min(log.count, place + LogFormat.slotSize)])
            let isProved = slot.withRawSpan {
                key.proves($0, at: UInt64(index), vault: front.vault, chain: front.chain)
            }
            let opened = slot.withRawSpan { stolen.open($0, at: UInt64(index), chain: front.chain) }
            #expect(!isProved && opened == nil, "\(move), entry \(index)")
            try key.evolve()
        }
        let new = try #require(vault.gate.current).keys
        let identity = try old.keybag.key(.identity, epoch: epoch).withBytes { $0.array }
        #expect(try new.keybag.key(.identity, epoch: epoch + 1).withBytes { $0.array } != identity)
        #expect(new.keybag.epochs(of: .identity) == [epoch + 1], "there is no identity that needs the old one")
        #expect(try vault.securityLog().isIntact)
    }

    /// Somebody with the old keys does not wait until what is stored has moved to the new ones.
    @Test func `a log of before a raise put back while records still move is found`() throws {
        let vault = try home.opened()
        vault.appendDrills(2)
        let old = copyLog()
        try vault.change(to: .secret("right"), proving: vault.proveNobody())
        #expect(try vault.isRekeyUnfinished)
        let good = copyLog()
        #expect(try vault.securityLog().isIntact)
        #expect(try #require(vault.gate.current).keys.keybag.epochs(of: .logReached) == [2])
        try restoreLog(old)
        #expect(try vault.logFindings().contains { $0.hasPrefix("state@") })
        try restoreLog(good)
        #expect(try vault.logFindings() == [])
        try vault.finishRekey()
        #expect(try vault.logFindings() == [])
    }

    @Test(arguments: [Way.device, .owner])
    func `a log that could not go over goes over at the next unlock, whatever opens`(_ way: Way) throws {
        let vault = try home.opened()
        try vault.change(to: .secret("right"), proving: vault.proveNobody())
        try vault.finishRekey()
        let folder = home.path + "/log.new"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let proof = try vault.prove(passcode: secret("right"), spending: vault.burnAttempt())
        try vault.change(to: way == .owner ? .owner() : .device(), proving: proof)
        #expect(try LogSegment.front(of: bytes("log"))?.epoch == 2)
        vault.lock()
        try FileManager.default.removeItem(atPath: folder)
        let again = try home.open()
        #expect(way.open(again) == nil)
        #expect(try #require(again.gate.current).keys.keybag.epochs(of: .logReached) == [3])
        #expect(try LogSegment.front(of: bytes("log"))?.epoch == 3)
        #expect(try again.logFindings() == [])
        try again.finishRekey()
    }

    /// The key of a segment is needed until the segment has rotated away.
    @Test func `a log key is forgotten at the unlock after its segment rotated away`() throws {
        let vault = try home.opened()
        try vault.change(to: .device(), proving: vault.proveNobody())
        try vault.finishRekey()
        #expect(try #require(vault.gate.current).keys.keybag.logEpochs == [2, 1])
        vault.lock()
        try FileManager.default.removeItem(atPath: home.path + "/log.old")
        try vault.openByDevice()
        #expect(try #require(vault.gate.current).keys.keybag.logEpochs == [2])
        vault.lock()
        try vault.openByDevice()
    }
}
