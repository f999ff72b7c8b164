internal import VaultStorage
import SystemCalls
package import VaultCore

/// What is written while the vault is locked, and unlocks that take it in.
package enum OpenWork {
    package static let collection = "o"

    /// An item is told by its number; every third one is sealed to the vault.
    package static func isSealed(_ number: Int) -> Bool { number % 3 == 2 }

    package static func content(_ number: Int) -> Content {
        let size = number % 5 == 4 ? 20_000 + number : 40 + number
        return Content(seed: UInt64(number) &+ 77_000, size: size)
    }

    package static func put(_ number: Int, _ vault: Vault) throws {
        let bytes = content(number).bytes()
        if isSealed(number) {
            try unsafe vault.open.drop(bytes: bytes.span.bytes, for: "i\(number)", in: collection)
        } else {
            try unsafe vault.open.put(bytes: bytes.span.bytes, for: "i\(number)", in: collection)
        }
    }

    /// A fixed sequence. Lines: `begin put N`, `begin remove N`, `begin unlock`, each with `done` or `failed CODE`.
    /// An unlock that worked and still left something to say: `begin unlock`, `report WHAT`, `done`.
    static func script(_ home: String, _ clock: FileClock) throws {
        let vault = try Vault.known(home, clock)
        for number in 0..<4 { Report.step("put \(number)") { try put(number, vault) } }
        Report.step("remove 1") { try vault.open.delete("i1", in: collection) }
        unlock(vault)
        for number in 4..<6 { Report.step("put \(number)") { try put(number, vault) } }
        unlock(vault)
        unlock(vault)
        for number in 6..<8 { Report.step("put \(number)") { try put(number, vault) } }
        // As a process that comes next.
        unlock(try Vault.known(home, clock))
        Report.line("end")
    }

    /// The first item, and the first one after the compartment was emptied. Lines as of ``script(_:_:)``.
    static func begin(_ home: String, _ clock: FileClock) throws {
        let vault = try Vault.known(home, clock)
        Report.step("put 0") { try put(0, vault) }
        unlock(vault)
        Report.step("put 1") { try put(1, vault) }
        Report.line("end")
    }

    private static func unlock(_ vault: Vault) {
        Report.step("unlock") {
            try vault.unlock(phrase: Known.phrase(0))
            if let report = vault.open.lastMigration, !report.isUneventful {
                Report.line("report moved \(report.moved) \(report.problem.map { "\($0.code)" } ?? "")")
            }
        }
        vault.lock()
    }

    /// Writes items of its own and unlocks now and then, beside others that do the same. Lines: `done N`, `end`.
    static func mix(_ home: String, _ clock: FileClock, writer: Int, count: Int) throws {
        let vault = try Vault.known(home, clock)
        for step in 0..<count {
            let number = writer * 1000 + step
            try put(number, vault)
            Report.line("done \(number)")
            if step % 3 == writer % 3 {
                try vault.unlock(phrase: Known.phrase(0))
                if let problem = vault.open.lastMigration?.problem { throw problem }
                vault.lock()
            }
        }
        Report.line("end")
    }
}

/// Reads a vault whose open compartment somebody wrote to, again and again.
///
/// An order is a line `FILE OFFSET MASK` (a byte of the file is changed), `FILE size N` (it is cut or made longer),
/// `FILE random SEED N` (replaced) or `FILE page A B` (page A becomes a copy of page B under its own number). Lines:
/// `begin`, `locked CODE` for what failed while locked, `moved N unreadable N`, `item exact|different` for each that
/// was taken in, `broken WHAT` for anything that must not be, `done`.
enum OpenGarbage {
    private static let files = ["open.mdb", "open.key", "open.pub"]

    static func run(_ home: String, _ clock: FileClock) throws {
        alarm(60)
        let good = try files.map { try read("\(home)/\($0)") }
        Report.line("ready")
        while let line = readLine() {
            alarm(60)
            Report.line("begin")
            let words = line.split(separator: " ").map(String.init)
            guard let index = files.firstIndex(of: words[0]) else { throw VaultError(.noVault, "no order: \(line)") }
            let bad = change(good[index], Array(words.dropFirst()))
            // Once for who is locked, once for who unlocks: the first may write.
            for look in [locked, unlocked] {
                for (name, bytes) in zip(files, good) { try write(bytes, "\(home)/\(name)") }
                try write(bad, "\(home)/\(files[index])")
                unsafe unlink("\(home)/open.mdb-lock")
                try look(home, clock)
            }
            Report.line("done")
        }
    }

    private static func locked(_ home: String, _ clock: FileClock) throws {
        let vault = try Vault.known(home, clock)
        func attempt(_ body: () throws -> Void) {
            do { try body() } catch { Report.line("locked \(Report.code(of: error))") }
        }
        attempt { _ = try vault.open.records() }
        attempt { try vault.open.withValue(for: "i0", in: OpenWork.collection) { _ in } }
        attempt { try OpenWork.put(900, vault) }
        attempt { try OpenWork.put(902, vault) }
        attempt { try vault.open.delete("i0", in: OpenWork.collection) }
        _ = vault.open.status()
    }

    private static func unlocked(_ home: String, _ clock: FileClock) throws {
        let vault = try Vault.known(home, clock)
        do {
            try vault.unlock(phrase: Known.phrase(0))
        } catch { return Report.line("broken unlock \(Report.code(of: error))") }
        guard let report = vault.open.lastMigration else { return Report.line("broken no report") }
        if let problem = report.problem { Report.line("broken problem \(problem.code) \(problem.reason)") }
        Report.line("moved \(report.moved) unreadable \(report.unreadable) altered \(report.isAltered)")
        for item in try vault.inbox() {
            let number = Int(item.originalName.dropFirst()) ?? -1
            let bytes = try vault.bytes(at: Place(Vault.inboxCollection, item.name))
            Report.line("item \(bytes == OpenWork.content(number).bytes() ? "exact" : "different") \(number)")
            try vault.reject(item.name)
        }
        if try !vault.verify().isIntact { Report.line("broken verify") }
        vault.lock()
        // Whatever was there: the compartment works again.
        try OpenWork.put(901, vault)
        try vault.unlock(phrase: Known.phrase(0))
        let items = try vault.inbox()
        if items.map(\.originalName) != ["i901"] { Report.line("broken afterwards \(items.count)") }
        for item in items { try vault.reject(item.name) }
        vault.lock()
    }

    private static func change(_ good: [UInt8], _ words: [String]) -> [UInt8] {
        var bytes = good
        let numbers = words.compactMap { Int($0) }
        switch words[0] {
        case "size":
            let size = numbers[0]
            bytes =
                size < bytes.count ? Array(bytes[..<size]) : bytes + [UInt8](repeating: 0, count: size - bytes.count)
        case "random": bytes = Content(seed: UInt64(numbers[0]), size: numbers[1]).bytes()
        case "page":
            let (target, source) = (numbers[0] * 4096, numbers[1] * 4096)
            guard max(target, source) + 4096 <= bytes.count else { break }
            let number = Array(bytes[target..<target + 8])
            bytes.replaceSubrange(target..<target + 4096, with: good[source..<source + 4096])
            bytes.replaceSubrange(target..<target + 8, with: number)
        default: bytes[numbers[0]] ^= UInt8(truncatingIfNeeded: numbers[1])
        }
        return bytes
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard file >= 0, unsafe fstat(file, &status) == 0 else { throw VaultError(.noVault, path) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: status.st_size)
        guard unsafe pread(file, &bytes, bytes.count, 0) == bytes.count else { throw VaultError(.inputOutput, path) }
        return bytes
    }

    /// A file of its own: what the program had open of the one before must not matter.
    private static func write(_ bytes: [UInt8], _ path: String) throws {
        unsafe unlink(path)
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw VaultError(.inputOutput, path) }
        defer { close(file) }
        guard unsafe SystemCalls.write(file, bytes, bytes.count) == bytes.count else {
            throw VaultError(.inputOutput, path)
        }
    }
}
