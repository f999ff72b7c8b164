#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// What is written while locked, when the process or the disk ends, when others write too, and when somebody wrote
/// garbage.
@Suite(.seeded, .serialized) struct OpenCompartmentCrashTests {
    /// Items that must be in the inbox once, and those that may be.
    private struct Expectation {
        var certain: Set<Int> = []
        var possible: Set<Int> = []

        /// - Parameter failsSoftly: Whether an error may come after the change was made.
        mutating func follow(_ lines: [String], _ context: String) throws {
            var begun: [Substring] = []
            for line in lines {
                let words = line.split(separator: " ")
                switch words.first {
                case "begin": begun = Array(words.dropFirst())
                case "done": settle(begun, isDone: true)
                case "failed": settle(begun, isDone: nil)
                case "report", "end": break
                default: throw Problem("not understood: \(line); \(context)")
                }
                if words.first == "done" || words.first == "failed" { begun = [] }
            }
            settle(begun, isDone: nil)
        }

        private mutating func settle(_ step: [Substring], isDone: Bool?) {
            guard step.count == 2, let number = Int(step[1]) else { return }
            switch (step[0], isDone) {
            case ("put", true): certain.insert(number)
            case ("put", _): possible.insert(number)
            case ("remove", true): certain.remove(number)
            default:
                if certain.remove(number) != nil { possible.insert(number) }
            }
        }

        /// Unlocks on a sound disk and compares the inbox. Nothing is lost, twice, or in part.
        func check(_ home: String, _ clock: FileClock) throws -> String? {
            let vault = try Vault.known(home, clock)
            try vault.unlock(phrase: Known.phrase(0))
            let report = vault.open.lastMigration
            guard let report, report.problem == nil, report.unreadable == 0 else { return "report: \(report as Any)" }
            if let problem = try compare(vault) { return problem }
            guard try vault.verify().isIntact else { return "verify: \(try vault.verify())" }
            vault.lock()
            try OpenWork.put(500, vault)
            try vault.unlock(phrase: Known.phrase(0))
            guard try vault.bytes(at: Place("inbox", "i500")) == OpenWork.content(500).bytes() else {
                return "unusable"
            }
            vault.lock()
            return nil
        }

        func compare(_ vault: Vault) throws -> String? {
            var found: Set<Int> = []
            for item in try vault.inbox() {
                guard let number = Int(item.originalName.dropFirst()), item.originalCollection == OpenWork.collection,
                    item.wasSealed == OpenWork.isSealed(number)
                else { return "what is \(item)?" }
                guard found.insert(number).inserted else { return "item \(number) is there twice" }
                let bytes = try vault.bytes(at: Place("inbox", item.name))
                guard bytes == OpenWork.content(number).bytes() else { return "item \(number) has other bytes" }
            }
            if let lost = certain.subtracting(found).min() { return "item \(lost) is lost" }
            if let extra = found.subtracting(certain).subtracting(possible).min() { return "item \(extra) came back" }
            return nil
        }
    }

    @Test(arguments: Fault.allCases)
    func `a fault at any call loses nothing that was written while locked, and doubles nothing`(fault: Fault) throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("open \(fault.rawValue)")
        let template = scratch["template"]
        try Vault.createKnown(template, scratch.clock)
        let disk = FaultyDisk(scratch: scratch)
        let arguments = ["open-script", scratch.home, scratch.clock.path]
        try scratch.copyHome(template, to: scratch.home)
        try Vault.known(scratch.home, scratch.clock).unlock(phrase: Known.phrase(0))
        let calls = try disk.calls(of: arguments, under: scratch.home)
        // What concerns the compartment and its emptying comes before the calls of what was tested elsewhere.
        let own = calls.indices.filter { calls[$0].contains("open.") || calls[$0].contains("vault.mdb") }.map { $0 + 1 }
        let chosen = TestRun.sample(own, 12, using: &generator) + (fault == .cut ? [calls.count + 1] : [])
        var codes: [String: Int] = [:]
        for call in chosen {
            let seed = generator.next() >> 2
            try scratch.copyHome(template, to: scratch.home)
            let context = "\(fault.rawValue), \(FaultyDisk.name(call, in: calls))"
            let environment = fault.environment(at: call, seed: seed)
            // The protected database is opened once before, so that LMDB needs no room for its lock file.
            let vault = try Vault.known(scratch.home, scratch.clock)
            try vault.unlock(phrase: Known.phrase(0))
            vault.lock()
            let lines = try disk.run(arguments, under: scratch.home, environment)
            for line in lines where line.hasPrefix("failed") { codes[line, default: 0] += 1 }
            var expected = Expectation()
            try expected.follow(lines, context)
            let unlocks = zip(lines, lines.dropFirst()).filter { $0.0 == "begin unlock" && $0.1.hasPrefix("failed") }
            let isOwn = call > calls.count || calls[call - 1].contains("open.")
            #expect(unlocks.isEmpty || !isOwn, "an unlock failed; \(context)")
            check(expected, scratch, "\(context)\n\(lines.joined(separator: "\n"))")
        }
        let figures = codes.sorted { $0.key < $1.key }.map { "\($0.value) steps \($0.key)" }
        TestRun.report(
            "open compartment, \(fault.rawValue)",
            (["\(chosen.count) of \(calls.count) calls"] + figures).joined(separator: ", "))
    }

    /// What is wrong afterwards is told in full.
    private func check(_ expected: Expectation, _ scratch: Scratch, _ context: String) {
        do {
            if let problem = try expected.check(scratch.home, scratch.clock) { Issue.record("\(problem); \(context)") }
        } catch { Issue.record("\(error); \(context)") }
    }

    /// Nothing is in the compartment until the first item is acknowledged: no half of its database may be found.
    @Test func `a power cut at any call of its beginning leaves nothing to report`() throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("open beginning")
        let template = scratch["template"]
        try Vault.createKnown(template, scratch.clock)
        let vault = try Vault.known(template, scratch.clock)
        try vault.unlock(phrase: Known.phrase(0))
        vault.lock()
        let disk = FaultyDisk(scratch: scratch)
        let arguments = ["open-begin", scratch.home, scratch.clock.path]
        try scratch.copyHome(template, to: scratch.home)
        let calls = try disk.calls(of: arguments, under: scratch.home)
        #expect(calls.contains { $0.contains("open.mdb") } && calls.contains { $0.contains("open.key") })
        for call in TestRun.sample(Array(1...calls.count + 1), calls.count + 1, using: &generator) {
            for _ in 0..<TestRun.count(test: 2, check: 4, soak: 16) {
                let seed = generator.next() >> 2
                try scratch.copyHome(template, to: scratch.home)
                let lines = try disk.run(arguments, under: scratch.home, Fault.cut.environment(at: call, seed: seed))
                var expected = Expectation()
                let context = "\(FaultyDisk.name(call, in: calls)), fault seed \(seed)"
                try expected.follow(lines, context)
                check(expected, scratch, "\(context)\n\(lines.joined(separator: "\n"))")
            }
        }
        TestRun.report("open compartment, power cut at its beginning", "\(calls.count) calls")
    }

    @Test func `writers and unlocks of many processes at once lose nothing and double nothing`() throws {
        let scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        let count = TestRun.isSoak ? 60 : 12
        let children = try (0..<4).map { writer in
            try Child(["open-mix", scratch.home, scratch.clock.path, "\(writer)", "\(count)"])
        }
        var expected = Expectation()
        for child in children {
            let lines = try child.rest()
            #expect(child.wait() == .exited(0) && lines.last == "end", "\(lines.last ?? "")")
            expected.certain.formUnion(lines.compactMap { $0.hasPrefix("done ") ? Int($0.dropFirst(5)) : nil })
        }
        #expect(expected.certain.count == 4 * count)
        #expect(try expected.check(scratch.home, scratch.clock) == nil)
    }

    @Test func `two unlocks at once take an item in once`() throws {
        let scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        for round in 0..<TestRun.rounds {
            let vault = try Vault.known(scratch.home, scratch.clock)
            var expected = Expectation()
            for number in 0..<6 { try OpenWork.put(number, vault) }
            expected.certain = Set(0..<6)
            let (home, clock) = (scratch.home, scratch.clock)
            Threads.run(4) { _ in
                do {
                    let vault = try Vault.known(home, clock)
                    try vault.unlock(phrase: Known.phrase(0))
                    if let problem = vault.open.lastMigration?.problem { throw problem }
                } catch { Issue.record("\(error)") }
            }
            try vault.unlock(phrase: Known.phrase(0))
            #expect(try expected.compare(vault) == nil, "round \(round)")
            for item in try vault.inbox() { try vault.reject(item.name) }
            vault.lock()
        }
    }

    @Test func `garbage never hurts an unlock`() throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("open garbage")
        try Vault.createKnown(scratch.home, scratch.clock)
        let vault = try Vault.known(scratch.home, scratch.clock)
        for number in 0..<60 { try OpenWork.put(number, vault) }
        for number in stride(from: 0, to: 60, by: 7) where !OpenWork.isSealed(number) {
            try vault.open.delete("i\(number)", in: OpenWork.collection)
            try OpenWork.put(number, vault)
        }
        vault.open.close()
        let child = try Child(["open-garbage", scratch.home, scratch.clock.path])
        #expect(try child.expect() == "ready")
        var tally = (exact: 0, partly: 0, nothing: 0)
        let database = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(scratch.home)/open.mdb")))
        for order in OpenCompartmentCrashTests.orders(database, &generator) {
            try child.send(order)
            let context = "\(order)"
            var (exact, lines) = (0, [String]())
            while let line = try child.line(), line != "done" { lines.append(line) }
            for line in lines {
                if line.hasPrefix("item exact") { exact += 1 }
                #expect(!line.hasPrefix("broken") && !line.hasPrefix("item different"), "\(line); \(context)")
                guard line.hasPrefix("locked") else { continue }
                let codes = ["damaged", "recordNotFound", "noPublicKey", "newerVersion"]
                #expect(codes.contains(String(line.dropFirst(7))), "\(line); \(context)")
            }
            guard lines.first == "begin", lines.contains(where: { $0.hasPrefix("moved") }) else {
                Issue.record("the process ended: \(child.wait()); \(context)")
                return
            }
            if exact == 60 { tally.exact += 1 } else if exact > 0 { tally.partly += 1 } else { tally.nothing += 1 }
        }
        child.closeInput()
        #expect(child.wait() == .exited(0))
        TestRun.report(
            "open garbage",
            "all items saved \(tally.exact) times, some \(tally.partly), none \(tally.nothing)")
    }

    private static func orders(_ database: [UInt8], _ generator: inout SeededGenerator) -> [String] {
        let pages = database.count / 4096
        var orders = ["open.key", "open.pub"].flatMap { name -> [String] in
            let size = name == "open.key" ? 128 : 160
            let flips = TestRun.sample(Array(0..<size), 8, using: &generator).map { "\(name) \($0) \(1 << ($0 % 8))" }
            return flips + [0, 1, size - 1, size + 1, 5000].map { "\(name) size \($0)" } + ["\(name) random 5 \(size)"]
        }
        // Heads of pages and nodes first: most of a page is ciphertext.
        for page in TestRun.sample(Array(0..<pages), pages, using: &generator) {
            let start = page * 4096
            let heads = Array(start..<start + 200).filter { database[$0] != 0 }
            for offset in TestRun.sample(heads, 1, using: &generator) {
                orders.append("open.mdb \(offset) \(Int.random(in: 1...255, using: &generator))")
            }
            guard TestRun.isSoak || page % 8 == 0 else { continue }
            orders.append("open.mdb page \(page) \(Int.random(in: 0..<pages, using: &generator))")
        }
        // Where the tree of the records is: head of a node (8), its name, and LMDB's description of a tree (48).
        let name = Array("records".utf8)
        let nodes = database.indices.dropLast(name.count + 48).filter {
            Array(database[$0..<$0 + name.count]) == name
        }
        #expect(!nodes.isEmpty)
        for offset in TestRun.sample(nodes.flatMap { $0 - 8..<$0 + name.count + 48 }, 16, using: &generator) {
            orders.append("open.mdb \(offset) \(Int.random(in: 1...255, using: &generator))")
        }
        for offset in TestRun.sample(database.indices.filter { database[$0] != 0 }, 20, using: &generator) {
            orders.append("open.mdb \(offset) \(Int.random(in: 1...255, using: &generator))")
        }
        for size in [0, 1, 4095, 4096, 8191, 8192, 12_288, database.count - 4096, database.count + 4096, 70 << 20] {
            orders.append("open.mdb size \(size)")
        }
        return orders + ["open.mdb random 9 100000", "open.mdb random 10 4096", "open.mdb random 11 8192"]
    }
}
#endif
