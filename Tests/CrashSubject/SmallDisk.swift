import VaultStorage
import SystemCalls
import VaultCore

/// A vault on a disk of 2 MiB that fills up and becomes read-only. Runs in a mount namespace of its own, so the disk
/// goes when the process does.
///
/// Lines: `held WHAT` or `broken WHAT: WHY`; `cannot mount` when it is not allowed to.
package enum SmallDisk {
    /// How many lines say that something held.
    package static let steps = 24

    static func run(_ folder: String, _ clock: FileClock) throws {
        guard mount(["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", folder]) else {
            return Report.line("cannot mount")
        }
        let home = "\(folder)/home"
        try Vault.createKnown(home, clock)
        let vault = try Vault.known(home, clock)
        try vault.unlock(0)
        var disk = FullDisk(vault, ballast: "\(folder)/ballast")
        disk.fill()
        check("everything acknowledged is readable on the full disk") { try disk.readAll(vault) }
        disk.takeAndGiveBack()
        check("the full disk reads the same after locking and unlocking") {
            vault.lock()
            try vault.unlock(phrase: Known.phrase(0))
            return try disk.readAll(vault)
        }
        refuses("a stream to the full disk", .diskFull) { try vault.perform(FullDisk.set("stream", 1_060_000)) }
        check("the refused stream left nothing") { try vault.verify().orphanedFiles == 0 }
        check("a passcode attempt on the full disk works: its place was reserved") {
            try vault.unlock(0)
            return true
        }
        disk.deleteSome()
        check("everything acknowledged is still readable") { try disk.readAll(vault) }
        check("there is room again") { unsafe unlink("\(folder)/ballast") == 0 }
        disk.writeAgain()
        check("the vault is intact") {
            let found = try vault.verify()
            return found.isIntact && found.records == disk.count
        }
        vault.lock()
        guard mount(["-o", "remount,bind,ro", folder]) else { return Report.line("broken remount") }
        try readOnly(home, clock, disk)
        Report.line("end")
    }

    private static func readOnly(_ home: String, _ clock: FileClock, _ disk: FullDisk) throws {
        let vault = try Vault.known(home, clock)
        refuses("a passcode attempt on a read-only disk", .readOnly) { try vault.unlock(0) }
        check("the phrase opens and reads everything on a read-only disk") {
            try vault.unlock(phrase: Known.phrase(0))
            return try disk.readAll(vault) && vault.verify().isIntact
        }
        refuses("a put on a read-only disk", .readOnly) { try vault.perform(FullDisk.set("new", 10)) }
        refuses("a stream on a read-only disk", .readOnly) { try vault.perform(FullDisk.set("new", 1_060_000)) }
        refuses("a delete on a read-only disk", .readOnly) {
            try vault.perform(Operation([.delete(FullDisk.place("0"))]))
        }
        refuses("a recovery on a read-only disk", .readOnly) {
            _ = try vault.recover(phrase: Known.phrase(0), newPasscode: Known.passcode(1))
        }
        refuses("a new vault on a read-only disk", .readOnly) { try Vault.createKnown("\(home)-2", clock) }
    }

    static func check(_ what: String, _ body: () throws -> Bool) {
        do {
            Report.line(try body() ? "held \(what)" : "broken \(what): not so")
        } catch { Report.line("broken \(what): \(Report.code(of: error)) \(error)") }
    }

    static func refuses(_ what: String, _ code: VaultError.Code, _ body: () throws -> Void) {
        do {
            try body()
            Report.line("broken \(what): it was done")
        } catch {
            let found = Report.code(of: error)
            Report.line(found == "\(code)" ? "held \(what) is refused: \(code)" : "broken \(what): \(found) \(error)")
        }
    }

    private static func mount(_ arguments: [String]) -> Bool {
        var words = unsafe (["mount"] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var process = pid_t()
        guard unsafe posix_spawnp(&process, "mount", nil, nil, &words, environ) == 0 else { return false }
        var status: Int32 = 0
        return unsafe waitpid(process, &status, 0) == process && status == 0
    }
}

/// What was stored on the small disk.
private struct FullDisk {
    private let vault: Vault
    private let ballast: String
    private var records: [Place: Content] = [:]

    init(_ vault: Vault, ballast: String) {
        self.vault = vault
        self.ballast = ballast
    }

    var count: Int { records.count }

    static func place(_ name: String) -> Place { Place("disk", name) }

    static func set(_ name: String, _ size: Int) -> Operation {
        Operation([.set(place(name), Content(seed: UInt64(size), size: size))])
    }

    private mutating func store(_ operation: Operation) throws {
        try vault.perform(operation)
        for change in operation.changes { change.apply(to: &records) }
    }

    /// Writes until the disk is full: a ballast first, then records, smaller ones as room gets scarce.
    mutating func fill() {
        SmallDisk.check("a ballast of 512 KiB fits") { writeBallast() }
        for size in [50_000, 3_000, 10] {
            SmallDisk.refuses("a record of \(size) bytes on the full disk", .diskFull) {
                for number in 0..<2_000 { try store(FullDisk.set("\(size)-\(number)", size + number)) }
            }
        }
        SmallDisk.check("some records were stored before") { records.count > 5 }
    }

    private func writeBallast() -> Bool {
        let file = unsafe open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        let bytes = [UInt8](repeating: 7, count: 512 * 1024)
        return unsafe write(file, bytes, bytes.count) == bytes.count
    }

    func readAll(_ vault: Vault) throws -> Bool {
        let listed = try vault.records()
        guard listed.count == records.count else { return false }
        for (place, content) in records where try vault.bytes(at: place) != content.bytes() { return false }
        return true
    }

    /// A large value that comes and goes in one batch leaves a database that is shorter than its page count says.
    mutating func takeAndGiveBack() {
        let passing = FullDisk.place("passing")
        let batch = Operation([.set(passing, Content(seed: 5, size: 150_000)), .delete(passing)])
        do {
            try store(batch)
            Report.line("held a value that comes and goes in one batch needs no room")
        } catch {
            let found = Report.code(of: error)
            Report.line("\(found == "diskFull" ? "held" : "broken") a value that comes and goes: \(found)")
        }
    }

    /// Deleting needs some room too: it works or is refused as any write.
    mutating func deleteSome() {
        var deleted = 0
        for place in records.keys.sorted().prefix(6) {
            do {
                try store(Operation([.delete(place)]))
                deleted += 1
            } catch let error as VaultError where error.code == .diskFull {
            } catch {
                return Report.line("broken deleting on the full disk: \(Report.code(of: error)) \(error)")
            }
        }
        Report.line("held \(deleted) of 6 records were deleted on the full disk, the others refused: diskFull")
    }

    mutating func writeAgain() {
        SmallDisk.check("writes work again") {
            try store(FullDisk.set("again", 100_000))
            return true
        }
        SmallDisk.check("deletes work again") {
            guard let place = records.keys.sorted().first else { return false }
            try store(Operation([.delete(place)]))
            return true
        }
    }
}
