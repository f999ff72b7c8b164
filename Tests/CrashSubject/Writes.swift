import SeededNumbers
import SystemCalls
import VaultCore

/// Endless and counted writing.
enum Writes {
    /// Every kind of write in a random order, on several threads, each with a collection of its own.
    ///
    /// Lines: `begin THREAD OPERATION`, then `done THREAD`.
    static func endless(_ home: String, _ clock: FileClock, seed: UInt64, threads: Int) throws {
        let vault = try Vault.known(home, clock)
        try vault.unlock(0)
        let records = try vault.records()
        Report.line("ready")
        Threads.run(threads) { number in
            var work = RandomWork(
                seed: seed &+ UInt64(number) &* 0x1234_5677, collection: "t\(number)",
                present: Set(records.filter { $0.collection == "t\(number)" }.map(\.name)))
            while true {
                let operation = work.next()
                Report.line("begin \(number) \(operation.text)")
                do {
                    try vault.perform(operation)
                } catch {
                    Report.line("error \(Report.code(of: error)) \(error)")
                    _exit(1)
                }
                Report.line("done \(number)")
            }
        }
    }

    /// `count` records of this writer alone, one durable put each.
    static func puts(_ home: String, _ clock: FileClock, writer: Int, count: Int) throws {
        for number in 0..<count {
            // Opening again and again on purpose: opening beside a writer must not be refused.
            let vault = try Vault.known(home, clock)
            try vault.unlock(phrase: Known.phrase(0))
            let content = Content(seed: UInt64(writer * 100_000 + number), size: 20 + number * 7)
            let operation = Operation([.set(Place("w\(writer)", "r\(number)"), content)])
            Report.line("begin \(writer) \(operation.text)")
            try vault.perform(operation)
            Report.line("done \(writer)")
        }
    }
}

/// Chooses the next operation of one thread; knows which of its records exist.
private struct RandomWork {
    private var generator: SeededGenerator
    private let collection: String
    private var present: Set<String>
    private static let names = 14

    init(seed: UInt64, collection: String, present: Set<String>) {
        generator = SeededGenerator(seed: seed)
        self.collection = collection
        self.present = present
    }

    mutating func next() -> Operation {
        let kind = Int.random(in: 0..<100, using: &generator)
        let changes: [Change]
        switch kind {
        case 0..<20: changes = [removal() ?? setting(smallSize())]
        case 20..<40: changes = batch()
        case 40..<46: changes = [setting(Int.random(in: 1_050_000...1_300_000, using: &generator))]
        case 46..<54: changes = [setting(Int.random(in: 4_000...150_000, using: &generator))]
        default: changes = [setting(smallSize())]
        }
        return Operation(changes)
    }

    private mutating func smallSize() -> Int { Int.random(in: 0...3_000, using: &generator) }

    private mutating func setting(_ size: Int, name: String? = nil) -> Change {
        let name = name ?? "n\(Int.random(in: 0..<RandomWork.names, using: &generator))"
        present.insert(name)
        return .set(Place(collection, name), Content(seed: generator.next() >> 1, size: size))
    }

    private mutating func removal() -> Change? {
        guard let name = present.sorted().randomElement(using: &generator) else { return nil }
        present.remove(name)
        return .delete(Place(collection, name))
    }

    /// Several changes at once, some of which undo others.
    private mutating func batch() -> [Change] {
        (0..<Int.random(in: 2...6, using: &generator)).map { _ in
            if Bool.random(using: &generator), let removal = removal() { return removal }
            return setting(Bool.random(using: &generator) ? smallSize() : smallSize() * 20)
        }
    }
}
