import AgentMessages
import Foundation
import HoldfastAgent
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage
import VaultSync

/// Agents that keep two homes alike over a folder.
@Suite struct SyncAgentTests {
    @Test func `what one agent's client stores comes to the other by the watch alone`() throws {
        let pair = try SyncPair()
        let (laptop, phone) = (try TestAgent(pair.laptop), try TestAgent(pair.phone))
        try laptop.unlock()
        try phone.unlock()
        // The first rounds are over.
        for agent in [laptop, phone] { _ = try agent.syncNow() }
        try laptop.put([1], "mail")
        try laptop.put(pattern(100_000), "large")
        laptop.pass(seconds: 5)
        #expect(phone.comes("mail", [1]) && phone.comes("large", pattern(100_000)))
        #expect(try pair.entries(pair.laptop).count == 1, "changes are gathered")
        try phone.put([2], "mail", replacing: true)
        phone.pass(seconds: 5)
        #expect(laptop.comes("mail", [2]))
        // Nothing but an end of five seconds begins it.
        try phone.put([3], "mail", replacing: true)
        #expect(try phone.syncStatus()?.roads.first?.given == 1)
        #expect(try pair.entries(pair.phone).count == 1)
    }

    @Test func `whoever asks hears what a round did, and who is in the group`() throws {
        let pair = try SyncPair()
        let (laptop, phone) = (try TestAgent(pair.laptop), try TestAgent(pair.phone))
        #expect(errorCode { _ = try laptop.syncNow() } == .locked)
        #expect(errorCode { _ = try laptop.syncStatus() } == .locked)
        try laptop.unlock()
        _ = try laptop.syncNow()
        for number in 0..<3 { try laptop.put([1], "\(number)") }
        let given = try #require(try laptop.syncNow())
        #expect(given.roads.map(\.path) == [pair.laptopRoad])
        #expect(given.roads.first?.given == 3 && given.roads.first?.published == 1)
        #expect(given.roads.first?.hitches == [] && given.roads.first?.problem == nil)
        #expect(given.roads.first?.time != nil)
        #expect(try laptop.syncStatus() == given, "a status is no round")
        try phone.unlock()
        #expect(phone.comes("2", [1]))
        let taken = try #require(try phone.syncNow())
        #expect(taken.members.map(\.name) == ["laptop", "phone"])
        #expect(taken.members.map(\.isThisDevice) == [false, true])
        #expect(try laptop.syncNow()?.words == taken.words, "both have the same")
        try laptop.put([2], "0", replacing: true)
        #expect(try laptop.syncNow()?.words != taken.words)
    }

    @Test func `a vault in no group has no status and no watch`() throws {
        let agent = try TestAgent(Scratch())
        try agent.unlock()
        #expect(try agent.syncNow() == nil && agent.syncStatus() == nil)
        try agent.put([1], "mail")
        #expect(agent.watches == 0)
    }

    @Test func `a locked agent watches nothing, and the next unlock catches up`() throws {
        let pair = try SyncPair()
        let (laptop, phone) = (try TestAgent(pair.laptop), try TestAgent(pair.phone))
        try laptop.unlock()
        try phone.unlock()
        _ = try phone.syncNow()
        _ = try laptop.syncNow()
        #expect(phone.watches == 1)
        try phone.put([7], "of phone")
        try phone.lock()
        #expect(phone.watches == 0)
        try laptop.put([1], "mail")
        #expect(try laptop.syncNow()?.roads.first?.published == 1)
        // Neither what came nor what it has stored is anything to a locked agent.
        try phone.advance(seconds: 3600)
        #expect(phone.watches == 0)
        #expect(try pair.entries(pair.phone).isEmpty)
        try phone.unlock()
        #expect(phone.comes("mail", [1]))
        #expect(laptop.comes("of phone", [7]))
    }

    @Test func `rounds by themselves keep no vault open`() throws {
        let pair = try SyncPair()
        let (laptop, phone) = (try TestAgent(pair.laptop), try TestAgent(pair.phone))
        try laptop.unlock()
        try phone.unlock()
        _ = try phone.syncNow()
        try phone.advance(seconds: 800)
        let before = try #require(try phone.status().locksIn)
        try laptop.put([1], "mail")
        _ = try laptop.syncNow()
        // Another process reads the vault: a request of a client would be a use of it.
        #expect(
            Patience.wait {
                (try? pair.value("mail", of: pair.phone)) == [1]
            })
        #expect(try phone.status().locksIn == before)
        try phone.advance(seconds: 100)
        #expect(try !phone.status().isUnlocked)
    }

    @Test func `nothing wakes an unlocked agent whose folder is idle`() throws {
        let pair = try SyncPair()
        let idle = try TestAgent(pair.phone, parts: ["SUBJECT_FOLDER_PATIENCE": "60000000"])
        try idle.unlock()
        #expect(try idle.syncNow()?.roads.first?.problem == nil && idle.watches == 1)
        // What others do takes the time in which it could wake up.
        let others = try SyncPair()
        let busy = try TestAgent(others.laptop)
        try busy.unlock()
        func work(_ count: Int) throws {
            for _ in 0..<count {
                try busy.put(pattern(10_000), "mail", replacing: true)
                _ = try busy.syncNow()
            }
        }
        // Until the last answer is behind it.
        var before = -1
        #expect(
            try Patience.wait {
                defer { before = idle.switches }
                try work(1)
                return idle.switches == before
            })
        try work(40)
        #expect(idle.switches == before)
    }

    @Test func `a folder that vanishes is a problem that the status tells, and its return is noticed`() throws {
        let pair = try SyncPair()
        let (laptop, phone) = (try TestAgent(pair.laptop), try TestAgent(pair.phone))
        try laptop.unlock(idle: 7200)
        try phone.unlock(idle: 7200)
        _ = try phone.syncNow()
        let away = pair.folders["away"]
        try FileManager.default.moveItem(atPath: pair.laptopRoad, toPath: away)
        #expect(Patience.wait { (try? phone.syncStatus()?.roads.first?.problem) != nil }, "the watch tells")
        #expect(phone.watches == 0)
        try laptop.put([1], "mail")
        let gone = try #require(try laptop.syncNow()?.roads.first)
        #expect(gone.problem != nil && gone.published == 0)
        #expect(try laptop.get("mail") == [1])
        try FileManager.default.moveItem(atPath: away, toPath: pair.laptopRoad)
        // By the clock alone: nothing tells of a folder that nobody could open.
        laptop.pass(seconds: 900)
        phone.pass(seconds: 900)
        #expect(phone.comes("mail", [1]))
        #expect(try phone.syncStatus()?.roads.first?.problem == nil)
        #expect(phone.watches == 1)
        try laptop.put([2], "mail", replacing: true)
        laptop.pass(seconds: 5)
        #expect(phone.comes("mail", [2]), "it is watched again")
    }

    @Test func `what others leave in the folder stops nothing`() throws {
        let pair = try SyncPair()
        let (laptop, phone) = (try TestAgent(pair.laptop), try TestAgent(pair.phone))
        try laptop.unlock()
        try phone.unlock()
        let stream = try pair.home(pair.laptop) { "\($0.stream)" }
        let folder = "\(pair.laptopRoad)/s/\(stream)"
        let other = "\(pair.laptopRoad)/s/\(String(repeating: "ab", count: 16))"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let name = String(repeating: "0", count: 15)
        for (path, bytes) in [
            ("\(folder)/\(name)1-\(String(repeating: "1", count: 16))", [UInt8](repeating: 0, count: 1024)),
            ("\(other)/\(name)1-\(String(repeating: "1", count: 16))", pattern(2048)),
            ("\(folder)/\(name)1.sync-conflict-1", pattern(10)), ("\(pair.laptopRoad)/rosters/x", []),
        ] { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
        try FileManager.default.createSymbolicLink(
            atPath: "\(other)/\(name)2-\(String(repeating: "1", count: 16))", withDestinationPath: "/dev/zero")
        #expect(unsafe mkfifo("\(other)/\(name)3-\(String(repeating: "1", count: 16))", 0o600) == 0)
        try laptop.put([1], "mail")
        laptop.pass(seconds: 5)
        #expect(phone.comes("mail", [1]))
        #expect(try phone.syncNow()?.roads.first?.problem == nil)
    }

    @Test func `a lock while a round is asked for is answered, and so is whoever asked`() throws {
        let pair = try SyncPair()
        let laptop = try TestAgent(pair.laptop)
        for round in 0..<8 {
            try laptop.unlock()
            for number in 0..<20 { try laptop.put(pattern(3000), "\(round) \(number)") }
            let asking = try laptop.raw()
            asking.send(Request.sync(.now).head())
            try laptop.lock()
            let reply = try asking.receive()
            #expect(reply?.kind == .sync || reply?.code == "locked", "\(String(describing: reply))")
            #expect(try !laptop.status().isUnlocked)
            #expect(laptop.watches == 0)
        }
        // Whatever was cut off: the other one has it in the end.
        let phone = try TestAgent(pair.phone)
        try laptop.unlock()
        try phone.unlock()
        #expect(phone.comes("7 19", pattern(3000)) && phone.comes("0 0", pattern(3000)))
    }

    @Test func `a round meets new keys and locks, and new rules and follows them`() throws {
        let pair = try SyncPair()
        let (laptop, phone) = (try TestAgent(pair.laptop), try TestAgent(pair.phone))
        try laptop.unlock()
        try phone.unlock()
        _ = try phone.syncNow()
        let other = try pair.phone.vault()
        try other.changePolicy(passcode: secret("right"), spending: other.burnAttempt()) {
            $0.lockTiming = .after(seconds: 60)
        }
        try laptop.put([1], "mail")
        _ = try laptop.syncNow()
        #expect(Patience.wait { (try? phone.status().locksIn) == 60_000 })
        // Somebody puts an earlier header back.
        let header = URL(fileURLWithPath: pair.phone.home + "/header")
        let old = try Data(contentsOf: header)
        try other.changePasscode(from: secret("right"), spending: other.burnAttempt(), to: secret("new"))
        #expect(try phone.get("mail") == [1])
        try old.write(to: header)
        try laptop.put([2], "mail", replacing: true)
        _ = try laptop.syncNow()
        #expect(Patience.wait { (try? phone.status().isUnlocked) == false })
    }

    @Test func `a round that finds a wiped vault ends the agent, and leaves the folder as it is`() throws {
        let pair = try SyncPair()
        let (laptop, phone) = (try TestAgent(pair.laptop), try TestAgent(pair.phone))
        try laptop.unlock()
        try phone.unlock()
        _ = try phone.syncNow()
        try phone.put([7], "of phone")
        _ = try phone.syncNow()
        let before = try pair.files(pair.phoneRoad)
        let other = try pair.phone.vault()
        _ = try other.wipe(passcode: secret("right"), spending: other.burnAttempt()) { _ in }
        #expect(Set(try pair.files(pair.phoneRoad)).isSuperset(of: before))
        try laptop.put([1], "mail")
        _ = try laptop.syncNow()
        #expect(Patience.wait { !phone.isRunning } && phone.waitForEnd() == 0)
        #expect(Set(try pair.files(pair.phoneRoad)).isSuperset(of: before))
        #expect(try laptop.get("of phone") == [7])
    }

    @Test func `two roads of one group have the same, whichever brings it`() throws {
        let pair = try SyncPair()
        let second = pair.folders["second"]
        try pair.addRoad(second, to: pair.laptop)
        let laptop = try TestAgent(pair.laptop)
        try laptop.unlock()
        try laptop.put([1], "mail")
        let status = try #require(try laptop.syncNow())
        #expect(status.roads.map(\.path) == [pair.laptopRoad, second])
        #expect(try pair.files(second).contains { $0.hasPrefix("s/") })
        #expect(try pair.files(second) == pair.files(pair.laptopRoad))
        #expect(laptop.watches == 2)
        // What another process stored is found when the watch of one road tells something.
        let phone = try TestAgent(pair.phone)
        try phone.unlock()
        _ = try phone.syncNow()
        let before = try pair.files(second)
        let vault = try pair.laptop.vault()
        try vault.unlock(passcode: secret("right"), spending: vault.burnAttempt())
        try secret([9]).withBytes { try vault.put(bytes: $0, for: "other", replacing: true) }
        vault.lock()
        try phone.put([2], "of phone")
        _ = try phone.syncNow()
        #expect(laptop.comes("of phone", [2]) && phone.comes("other", [9]))
        #expect(Patience.wait { (try? pair.files(second).count) == before.count + 1 })
    }
}
