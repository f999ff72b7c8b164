import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import OpenStorage
@testable import VaultCore
@testable import VaultStorage

@Suite struct RecordTests {
    @Test func valuesComeBackExactly() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let sizes = [0, 1, 255, 256, 2000, 4033, 5000, 70_000, Vault.largestInlineValue]
        for size in sizes { try vault.put(pattern(size), "size \(size)") }
        for size in sizes {
            #expect(try vault.get("size \(size)") == pattern(size))
            let copy = try vault.value(for: "size \(size)")
            #expect(copy.withBytes { $0.array } == pattern(size))
        }
        vault.lock()
        try vault.unlock("right")
        for size in sizes { #expect(try vault.get("size \(size)") == pattern(size)) }
        #expect(try vault.verify().isIntact)
    }

    @Test func collectionsAreApart() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name", "a")
        try vault.put([2], "name", "b")
        try vault.put([3], "bname", "")
        #expect(try vault.get("name", "a") == [1])
        #expect(try vault.get("name", "b") == [2])
        #expect(try vault.get("bname", "") == [3])
        #expect(errorCode { _ = try vault.get("name", "c") } == .recordNotFound)
        #expect(try vault.records(in: "a").map(\.name) == ["name"])
        #expect(try vault.records().map(\.collection) == ["", "a", "b"])
    }

    @Test func replacingMustBeAskedFor() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        let first = try vault.records()[0]
        #expect(errorCode { try vault.put([2], "name") } == .recordExists)
        #expect(try vault.get("name") == [1])
        try vault.put([2, 2], "name", replacing: true)
        #expect(try vault.get("name") == [2, 2])
        let second = try vault.records()[0]
        #expect(second.created == first.created)
        try vault.delete("name")
        #expect(errorCode { try vault.delete("name") } == .recordNotFound)
        #expect(errorCode { _ = try vault.get("name") } == .recordNotFound)
        var nothing = Vault.Verification()
        nothing.open.publicKey = .right
        #expect(try vault.verify() == nothing)
    }

    @Test func badNamesAndSizesAreRefused() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        #expect(errorCode { try vault.put([1], "") } == .invalidName)
        #expect(errorCode { try vault.put([1], String(repeating: "x", count: 1025)) } == .invalidName)
        #expect(errorCode { try vault.put([1], "x", String(repeating: "y", count: 256)) } == .invalidName)
        #expect(errorCode { _ = try vault.get("") } == .invalidName)
        try vault.put([1], String(repeating: "x", count: 1024), String(repeating: "y", count: 255))
        #expect(errorCode { try vault.put(pattern(Vault.largestInlineValue + 1), "large") } == .tooLarge)
        try vault.put([1], "a\u{0}b\n\u{202E}😀")
        #expect(try vault.records().contains { $0.name == "a\u{0}b\n\u{202E}😀" })
    }

    @Test func nothingWorksWhileLocked() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        vault.lock()
        #expect(errorCode { _ = try vault.get("name") } == .locked)
        #expect(errorCode { try vault.put([1], "other") } == .locked)
        #expect(errorCode { try vault.delete("name") } == .locked)
        #expect(errorCode { _ = try vault.records() } == .locked)
        #expect(errorCode { _ = try vault.verify() } == .locked)
        #expect(errorCode { try vault.write { _ in } } == .locked)
    }

    @Test func aBatchIsStoredWholeOrNotAtAll() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([9], "taken")
        let value: [UInt8] = [1, 2, 3]
        try vault.write { session in
            for number in 0..<100 { try value.withRawSpan { try session.put($0, for: "n\(number)") } }
        }
        #expect(try vault.records().count == 101)
        #expect(
            errorCode {
                try vault.write { session in
                    try value.withRawSpan { try session.put($0, for: "new") }
                    try session.delete("n0")
                    try value.withRawSpan { try session.put($0, for: "taken") }
                }
            } == .recordExists)
        struct OwnError: Error {}
        #expect(throws: OwnError.self) {
            try vault.write { session in
                try session.delete("n1")
                throw OwnError()
            }
        }
        #expect(try vault.get("n0") == value)
        #expect(try vault.get("n1") == value)
        #expect(errorCode { _ = try vault.get("new") } == .recordNotFound)
        #expect(try vault.verify().isIntact)
    }

    @Test func writesFromManyThreadsAreAllKept() async throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([0], "clash")
        let clashes = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var clashes = 0
                    for number in 0..<25 {
                        try? vault.put(pattern(100, seed: UInt8(task)), "t\(task) \(number)")
                        do { try vault.put([1], "clash") } catch { clashes += 1 }
                    }
                    return clashes
                }
            }
            return await group.reduce(0, +)
        }
        #expect(clashes == 200, "a refused write among joined ones harms no other")
        #expect(try vault.records().count == 201)
        for task in 0..<8 { #expect(try vault.get("t\(task) 24") == pattern(100, seed: UInt8(task))) }
        #expect(try vault.verify().isIntact)
    }

    @Test func twoObjectsOfOneHomeSeeEachOther() throws {
        let home = try TestHome()
        let first = try home.unlocked()
        let second = try home.open()
        try second.unlock("right")
        try first.put([1], "from first")
        #expect(try second.get("from first") == [1])
        try second.put([2], "from second")
        #expect(try first.get("from second") == [2])
        first.lock()
        #expect(try second.get("from first") == [1])
    }

    @Test func lockingInsideAReadIsSafe() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1, 2], "name")
        try vault.withValue(for: "name") { bytes in
            #expect(bytes.array == [1, 2])
            vault.lock()
            #expect(!vault.isUnlocked)
        }
        #expect(errorCode { _ = try vault.get("name") } == .locked)
    }

    @Test func readsInsideReadsWork() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "a")
        try vault.put([2], "b")
        let both = try vault.withValue(for: "a") { first in
            try vault.put([3], "c")
            return try vault.withValue(for: "b") { second in first.array + second.array }
        }
        #expect(both == [1, 2])
        #expect(try vault.get("c") == [3])
    }
}
