import AppLockCore
import Cryptography
import DeviceOwner
import VaultStorage
import Items
import OneTimeCodes
import SystemCalls
import Holdfast
import MemorySearch
import SecretMemory
import VaultCore

/// An app with the app lock, whose memory a test looks through. It does what it is told on standard input, one thing at
/// a time: a letter, how many bytes follow (16 bits, little-endian), and those bytes, which go into locked memory at
/// once. It says `.` when it is done, or `!` and why it is not.
///
/// Usage: AppSubject HOME. SUBJECT_LOCKED_PAGES=1 goes without memory that the kernel hides.
@main enum Subject {
    static func main() async {
        ProcessHardening.apply()
        memory_search_allow()
        if unsafe getenv("SUBJECT_LOCKED_PAGES") != nil { goWithoutHiddenMemory() }
        do {
            let vault = try Vault(at: CommandLine.arguments[1], settings: .costsForTests())
            let app = try HoldfastApp(vault: vault, isLockEnabled: true)
            let worker = Worker()
            await app.lock.handle(.launch)
            say(".")
            while let order = try Order() {
                do {
                    try await carryOut(order, app, worker)
                    say(".")
                } catch { say("!\(error)") }
            }
        } catch {
            say("!\(error)")
            exit(1)
        }
    }

    private static func carryOut(_ order: borrowing Order, _ app: HoldfastApp, _ worker: Worker) async throws {
        switch order.letter {
        case UInt8(ascii: "p"): try await app.lock.unlock(.passcode, order.bytes)
        case UInt8(ascii: "r"): try await app.lock.unlock(.recoveryPhrase, order.bytes)
        case UInt8(ascii: "l"): await app.lock.forceLock()
        case UInt8(ascii: "w"):
            try app.vault.put(order.bytes, for: "stored", replacing: true)
            try stream(order.bytes, into: app.vault)
        case UInt8(ascii: "g"): try worker.run { try read(app.vault) }
        case UInt8(ascii: "i"): try useItem(order.bytes, app.vault)
        default: exit(2)
        }
    }

    /// Stores an item, changes it, finds it by what is no secret, computes its code, and moves it to the trash. The
    /// order has five values with a space between two: password, user name, notes, the next password and the key of
    /// codes in base 32.
    private static func useItem(_ values: borrowing SecretBytes, _ vault: Vault) throws {
        let parts: [Range<Int>] = values.withBytes { bytes in
            var parts = [0..<0]
            for offset in 0..<bytes.byteCount {
                let last = parts.count - 1
                if unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == UInt8(ascii: " ") {
                    parts.append(offset + 1..<offset + 1)
                } else {
                    parts[last] = parts[last].lowerBound..<offset + 1
                }
            }
            return parts
        }
        guard parts.count == 5 else { throw VaultError(.damaged, "an order of another form") }
        let items = ItemStore(vault)
        var item = try Item(.login)
        try item.add(.secret, "password", values.copy(parts[0]))
        try item.add(.text, "username", values.copy(parts[1]))
        try item.setNotes(values.copy(parts[2]))
        let code = try OneTimeCode(base32: values.copy(parts[4]))
        try item.add(.oneTimeCode, "code", code.text())
        try items.add(item, as: "item")
        try items.change("item") { item in
            if let field = item.field("password") { try item.set(field, values.copy(parts[3])) }
        }
        _ = try items.search(ItemQuery("item"))
        try checkHealth(items)
        let stored = try items.item("item")
        guard let field = stored.field("code"), !stored.history.isEmpty else {
            throw VaultError(.damaged, "another item than was stored")
        }
        let text = try stored.withValue(of: field) { try SecretBytes(copying: $0) }
        guard try OneTimeCode(parsing: text).code(at: 1_700_000_000).count == 6,
            try items.discard("item", in: Vault.defaultCollection, for: .seconds(60))
        else { throw VaultError(.damaged, "no code, or no trash") }
    }

    /// Looks at all passwords, and for them in a list that has none of them.
    private static func checkHealth(_ items: ItemStore) throws {
        let path = items.vault.home.path + ".list"
        let list = try OwnedDescriptor(path, O_WRONLY | O_CREAT | O_TRUNC)
        defer { unsafe unlink(path) }
        // Longer than what is read line by line, so that a search halves it.
        for number in 0..<512 {
            let prefix = String(number + 4096, radix: 16)
            try Array((prefix + String(repeating: "0", count: 36) + ":1\n").utf8).withRawSpan { try list.write($0) }
        }
        let report = try items.health(against: BreachList(path))
        guard report.passwords > 0, report.findings.isEmpty else {
            throw VaultError(.damaged, "another health than that of random passwords")
        }
    }

    /// More than lies in a record of its own: the same bytes again and again.
    private static func stream(_ bytes: borrowing SecretBytes, into vault: Vault) throws {
        let copy = try bytes.copy()
        var left = 40
        try vault.put("streamed", replacing: true) { memory in
            left -= 1
            return left < 0 ? 0 : copy.withBytes { fill(&memory, $0) }
        }
    }

    private static func fill(_ memory: inout MutableRawSpan, _ bytes: RawSpan) -> Int {
        let count = min(memory.byteCount, 60_000)
        for offset in 0..<count {
            let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset % bytes.byteCount, as: UInt8.self)
            memory.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        }
        return count
    }

    private static func read(_ vault: Vault) throws {
        let size = try vault.withValue(for: "stored") { $0.byteCount }
        let value = try vault.value(for: "stored")
        var streamed = 0
        try vault.read("streamed") { streamed += $0.byteCount }
        _ = try (vault.records(), vault.inbox(), vault.securityLog())
        guard size == value.count, streamed > 1 << 20 else {
            throw VaultError(.damaged, "other values than were stored")
        }
    }

    private static func goWithoutHiddenMemory() {
        memory_search_refuse_descriptors(1)
        let protection = ProcessHardening.memoryProtection
        memory_search_refuse_descriptors(0)
        guard protection.hasPrefix("locked pages") else { exit(4) }
    }

    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }
}

/// What the test wants done.
struct Order: ~Copyable {
    let letter: UInt8
    let bytes: SecretBytes

    /// Nil at the end of the input.
    init?() throws {
        var head = [UInt8](repeating: 0, count: 3)
        guard unsafe read(STDIN_FILENO, &head, 3) == 3 else { return nil }
        var bytes = try SecretBytes(zeroed: Int(head[1]) | Int(head[2]) << 8)
        var filled = 0
        while filled < bytes.count {
            let start = filled
            let got = bytes.withMutableBytes { bytes in
                unsafe bytes.withUnsafeMutableBytes {
                    unsafe SystemCalls.read(STDIN_FILENO, $0.baseAddress! + start, $0.count - start)
                }
            }
            guard got > 0 else { return nil }
            filled += got
        }
        letter = head[0]
        self.bytes = bytes
    }
}

/// A thread that is there for the whole time and rests between its jobs, as those of an app do.
final class Worker: @unchecked Sendable {  // one job at a time
    typealias Job = @Sendable () throws -> Void
    private var job: Job?
    private var failure: (any Error)?
    private let start: [Int32]
    private let end: [Int32]

    init() {
        (start, end) = (Worker.pipe(), Worker.pipe())
        _ = DetachedThread.start { [self] in
            while Worker.wait(start) {
                do { try job?() } catch { failure = error }
                Worker.wake(end)
            }
        }
    }

    func run(_ job: @escaping Job) throws {
        (self.job, failure) = (job, nil)
        Worker.wake(start)
        _ = Worker.wait(end)
        self.job = nil
        if let failure { throw failure }
    }

    private static func pipe() -> [Int32] {
        var ends: [Int32] = [-1, -1]
        _ = unsafe SystemCalls.pipe(&ends)
        return ends
    }

    private static func wake(_ ends: [Int32]) {
        var byte: UInt8 = 1
        _ = unsafe write(ends[1], &byte, 1)
    }

    private static func wait(_ ends: [Int32]) -> Bool {
        var byte: UInt8 = 0
        return unsafe read(ends[0], &byte, 1) == 1
    }
}
