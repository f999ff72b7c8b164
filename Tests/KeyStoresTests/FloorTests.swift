import Cryptography
import Foundation
import KeyStores
import RealParts
import TestSupport
import Testing
import VaultFormat

private enum Asked: Equatable {
    case answer(FloorAnswer<LevelFloor>)
    case failure(ShareFailure)

    init(_ body: () throws(ShareFailure) -> FloorAnswer<LevelFloor>) {
        do throws(ShareFailure) { self = .answer(try body()) } catch { self = .failure(error) }
    }
}

extension FloorStore {
    fileprivate func asked(_ profile: FloorProfile = .standard) -> Asked {
        Asked { () throws(ShareFailure) in try floor(of: profile) }
    }
}

private func profile(_ name: String) throws -> FloorProfile { try #require(FloorProfile(name)) }

/// What a store remembers of a profile outside of its home.
@Suite struct FloorTests {
    private func checkContract(_ store: some FloorStore) throws {
        let (work, play) = (try profile("work"), try profile("play"))
        let (mine, yours) = (try vaultID(1), try vaultID(2))
        #expect(store.asked(work) == .answer(.none))
        try store.removeFloor(of: work)
        try store.set(LevelFloor(mine, .device), of: work)
        try store.set(LevelFloor(yours, .secret), of: play)
        #expect(store.asked(work) == .answer(.floor(LevelFloor(mine, .device))))
        try store.set(LevelFloor(mine, .owner), of: work)
        #expect(store.asked(work) == .answer(.floor(LevelFloor(mine, .owner))))
        #expect(store.asked(play) == .answer(.floor(LevelFloor(yours, .secret))), "each profile has its own")
        #expect(store.asked() == .answer(.none))
        try store.removeFloor(of: work)
        #expect(store.asked(work) == .answer(.none))
        #expect(store.asked(play) == .answer(.floor(LevelFloor(yours, .secret))))
        try store.removeFloor(of: play)
    }

    @Test func `a profile is a word and never a path`() throws {
        #expect(FloorProfile("") == nil)
        #expect(FloorProfile(String(repeating: "a", count: 65)) == nil)
        #expect(FloorProfile("../default") != .standard)
        #expect(FloorProfile("default") == .standard)
    }

    @Test func `the floor in memory is what was set`() throws { try checkContract(MemoryShares()) }

    @Test func `a store that cannot be asked hides what lesser ones say, and one that is not there does not`() throws {
        let (best, lesser) = (ScriptedFloors(), ScriptedFloors())
        let stores = ShareStores([], floors: [best, lesser])
        let floor = LevelFloor(try vaultID(1), .owner)
        let low = LevelFloor(try vaultID(2), .device)
        func asked() -> Asked { Asked { () throws(ShareFailure) in try stores.floor(of: .standard) } }
        #expect(asked() == .answer(.none))
        lesser.content = .floor(low)
        #expect(asked() == .answer(.floor(low)))
        try stores.set(floor, of: .standard)
        #expect(asked() == .answer(.floor(floor)))
        #expect(lesser.content == .none, "nothing older is left in a lesser one")
        best.failure = .unavailable(.busy("busy"))
        lesser.content = .floor(low)
        #expect(asked() == .failure(.unavailable(.busy("busy"))))
        best.failure = .unavailable(.absent(.tpm, "none"))
        #expect(asked() == .answer(.floor(low)))
        lesser.failure = .unavailable(.locked)
        #expect(asked() == .failure(.unavailable(.locked)))
        lesser.failure = .unavailable(.absent(.secretService, "none"))
        #expect(asked() == .failure(.unavailable(.absent(.tpm, "none"))), "never absent because nobody answers")
        let outcome = Asked { () throws(ShareFailure) in
            try stores.set(floor, of: .standard)
            return .none
        }
        #expect(outcome == .failure(.unavailable(.absent(.tpm, "none"))))
        best.failure = nil
        best.content = .unreadable
        #expect(asked() == .answer(.unreadable))
        #expect(ShareStores.files(in: "/nonexistent").hasFloors == false)
    }
}

private final class ScriptedFloors: FloorStore, @unchecked Sendable {  // used by one test's thread
    var content = FloorAnswer<LevelFloor>.none
    var failure: ShareFailure?

    func content(of place: FloorPlace) throws(ShareFailure) -> [UInt8]? {
        if let failure { throw failure }
        return switch content {
        case .none: nil
        case .floor(let floor): floor.encoded
        case .unreadable: []
        }
    }

    func set(_ bytes: [UInt8], in place: FloorPlace) throws(ShareFailure) {
        if let failure { throw failure }
        content = FloorAnswer(bytes)
    }

    func remove(_ place: FloorPlace) throws(ShareFailure) {
        if let failure { throw failure }
        content = .none
    }
}

@Suite(.seeded, .enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: floors in a TPM are not tested"))
struct TPMFloorTests {
    let chip: SoftwareTPM
    let store: TPMFloors
    let floor: LevelFloor

    init() throws {
        chip = try SoftwareTPM()
        store = TPMFloors(at: TPMLocation(chip.location))
        floor = LevelFloor(try vaultID(1), .owner)
    }

    private func numbers() throws -> [String] {
        try chip.tool("tpm2_getcap", "handles-nv-index").output.split(separator: "\n").map { line in
            line.trimmingCharacters(in: ["-", " "])
        }
    }

    @Test func `the floor in a chip is what was set, and survives a power cut`() throws {
        try FloorTests().checkContract(for: store)
        #expect(try numbers() == [])
        try store.set(floor, of: .standard)
        try chip.cutPower()
        #expect(store.asked() == .answer(.floor(floor)))
        #expect(try numbers().count == 1)
        let said = try chip.tool("tpm2_nvreadpublic", numbers()[0]).output
        #expect(said.contains("friendly: authwrite|authread|no_da|written"))
        let digest = unsafe SHA256.hash(Array("holdfast/1/floordefault".utf8).span.bytes).bytes
        #expect(said.lowercased().contains(Hexadecimal.encode(digest)), "found by its policy")
    }

    @Test func `a stranger's index in the floor's place makes it lie somewhere else`() throws {
        try store.set(floor, of: .standard)
        let number = try #require(numbers().first)
        try store.removeFloor(of: .standard)
        #expect(try chip.tool("tpm2_nvdefine", number, "-C", "o", "-s", "8").status == 0)
        #expect(store.asked() == .answer(.none))
        try store.set(floor, of: .standard)
        #expect(store.asked() == .answer(.floor(floor)))
        #expect(try numbers().count == 2)
        #expect(try chip.tool("tpm2_nvundefine", "-C", "o", number).status == 0)
        #expect(store.asked() == .answer(.floor(floor)), "also when the stranger's is gone")
        try store.removeFloor(of: .standard)
        #expect(try numbers() == [])
    }

    @Test func `a floor that was redefined or overwritten says nothing, and can be set again`() throws {
        try store.set(floor, of: .standard)
        let number = try #require(numbers().first)
        let content = chip.folder + "/content"
        try Data([UInt8](repeating: 9, count: 18)).write(to: URL(fileURLWithPath: content))
        #expect(try chip.tool("tpm2_nvwrite", "-C", number, "-i", content, number).status == 0)
        #expect(store.asked() == .answer(.unreadable))
        try store.set(floor, of: .standard)
        #expect(store.asked() == .answer(.floor(floor)))
        // Its policy, another authorisation.
        let policy = chip.folder + "/policy"
        let digest = unsafe SHA256.hash(Array("holdfast/1/floordefault".utf8).span.bytes).bytes
        try Data(digest).write(to: URL(fileURLWithPath: policy))
        for attributes in ["authread|authwrite|no_da", "authread|authwrite|no_da|ownerread"] {
            #expect(try chip.tool("tpm2_nvundefine", "-C", "o", number).status == 0)
            #expect(
                try chip.tool(
                    "tpm2_nvdefine", number, "-C", "o", "-s", "18", "-a", attributes, "-L", policy, "-p", "stranger"
                ).status == 0)
            #expect(try chip.tool("tpm2_nvwrite", "-C", number, "-P", "stranger", "-i", content, number).status == 0)
            #expect(store.asked() == .answer(.unreadable), "\(attributes)")
            try store.set(floor, of: .standard)
            #expect(store.asked() == .answer(.floor(floor)))
        }
        #expect(try numbers() == [number])
    }

    @Test func `with an authorisation on the chip's owner a floor that is there can be read and set`() throws {
        try store.set(floor, of: .standard)
        #expect(try chip.tool("tpm2_changeauth", "-c", "o", "stranger").status == 0)
        #expect(store.asked() == .answer(.floor(floor)))
        let next = LevelFloor(floor.vault, .secret)
        try store.set(next, of: .standard)
        #expect(store.asked() == .answer(.floor(next)))
        let outcome = Asked { () throws(ShareFailure) in
            try store.set(next, of: FloorProfile("other") ?? .standard)
            return .none
        }
        #expect(outcome == .failure(.unavailable(.ownedByAnother)))
        let nowhere = TPMFloors(at: TPMLocation("swtpm:path=/nonexistent/tpm.sock"))
        guard case .failure(.unavailable(.absent)) = nowhere.asked() else {
            Issue.record("a chip that does not answer has no floor")
            return
        }
    }

    @Test(arguments: [false, true])
    func `whatever command is cut off, the floor is the old one or the new one`(_ losesAnswer: Bool) throws {
        let proxy = try TPMProxy(chip)
        let through = TPMFloors(at: TPMLocation(proxy.location))
        let next = LevelFloor(floor.vault, .secret)
        var generator = TestRun.generator("floors")
        let step = TestRun.count(test: 3, check: 1, soak: 1)
        for first in [nil, floor] {
            var number = Int.random(in: 0..<step, using: &generator)
            while true {
                if let first {
                    try store.set(first, of: .standard)
                } else {
                    try store.removeFloor(of: .standard)
                }
                proxy.arm(at: number, losesAnswer: losesAnswer) { [chip] in try? chip.cutPower() }
                try? through.set(next, of: .standard)
                guard proxy.hasCut else { break }
                let answer = store.asked()
                let old = Asked.answer(first.map(FloorAnswer<LevelFloor>.floor) ?? .none)
                #expect(answer == old || answer == .answer(.floor(next)), "command \(number): \(answer)")
                try store.set(next, of: .standard)
                #expect(store.asked() == .answer(.floor(next)))
                #expect(try numbers().count == 1, "command \(number)")
                number += step
            }
            #expect(number > 5)
        }
    }
}

extension FloorTests {
    fileprivate func checkContract(for store: some FloorStore) throws { try checkContract(store) }
}
