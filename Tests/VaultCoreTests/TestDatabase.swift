import Foundation
import Synchronization
import SystemCalls
import TestSupport
import VaultFormat

@testable import VaultStorage

extension DatabaseLocks {
    /// Those that can be tried here.
    static var all: [DatabaseLocks] {
        #if os(Linux) && !canImport(Darwin)
        [.ofLMDB, .own]
        #else
        [.own]
        #endif
    }
}

/// A database without a vault around it. Each change rewrites all of its values, which name the change that wrote them.
final class TestDatabase: Sendable {
    private let folder: ScratchFolder
    let home: HomeDirectory
    let name: DatabaseName
    let database: DatabaseLease
    /// Of each value; some lie in pages of their own.
    static let sizes = (0..<40).map { $0 % 8 == 7 ? 9_000 + $0 * 100 : 300 + $0 * 40 }

    init(_ locks: DatabaseLocks, limit: Int = 64 << 20, room: Int = 64 << 20) throws {
        folder = try ScratchFolder("database")
        home = try HomeDirectory(path: folder.path)
        name = DatabaseName(file: "test.mdb", limit: limit, room: room)
        try DatabaseEnvironment.create(name, in: home, locks: locks)
        database = try DatabaseEnvironment.acquire(name, in: home, locks: locks)
    }

    var exclusion: DatabaseExclusion { database.environment.exclusion }

    /// Bytes of the file.
    func size() throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder["test.mdb"])
        return attributes[.size] as? Int ?? 0
    }

    private static func put(
        _ key: String, _ value: [UInt8], _ transaction: borrowing WriteTransaction
    ) throws(VaultError) {
        let key = Array(key.utf8)
        _ = try key.withRawSpan { key throws(VaultError) in
            try transaction.put(key, size: value.count, replacing: true) { bytes throws(VaultError) in
                unsafe bytes.withUnsafeMutableBytes { unsafe $0.copyBytes(from: value) }
            }
        }
    }

    /// Writes one value.
    func put(_ key: String, _ value: [UInt8]) throws(VaultError) {
        let transaction = try WriteTransaction(database)
        try TestDatabase.put(key, value, transaction)
        try transaction.commit()
    }

    func delete(_ key: String) throws(VaultError) {
        let transaction = try WriteTransaction(database)
        let bytes = Array(key.utf8)
        _ = try bytes.withRawSpan { key throws(VaultError) in try transaction.delete(key) }
        try transaction.commit()
    }

    func rewrite(_ number: Int, patience: Int = 30_000) throws(VaultError) {
        let transaction = try WriteTransaction(database, patience: patience)
        for (index, size) in TestDatabase.sizes.enumerated() {
            try TestDatabase.put("value \(index)", [UInt8](repeating: UInt8(number % 251), count: size), transaction)
        }
        try transaction.commit()
    }

    /// Reads everything in one snapshot.
    /// - Parameter pause: Called in the midst of it.
    /// - Returns: The numbers of the changes that wrote the values that ``rewrite(_:patience:)`` wrote; one, if all is
    ///   right.
    static func read(_ reader: borrowing ReadTransaction, pausing pause: () -> Void = {}) throws -> Set<UInt8> {
        try reader.renew()
        defer { reader.park() }
        var found: Set<UInt8> = []
        var count = 0
        try reader.forEach(failure: { $0 }) { key, value throws(VaultError) in
            guard key.byteCount < 10 else { return }
            if count == sizes.count / 2 { pause() }
            count += 1
            unsafe value.withUnsafeBytes { bytes in
                guard let first = unsafe bytes.first, let start = bytes.baseAddress else { return }
                found.insert(first)
                // All are the same; another one is told of with the first.
                if unsafe memcmp(start, start + 1, bytes.count - 1) != 0 { found.formUnion([254, 255]) }
            }
        }
        guard count == sizes.count else { throw VaultError.damaged("\(count) values") }
        return found
    }

    /// Readers on threads of their own, which stay in a snapshot for up to some milliseconds, until
    /// ``ReaderCrew/end()``.
    func readers(_ count: Int, seed: inout SeededGenerator) -> ReaderCrew {
        let seeds = (0..<count).map { _ in seed.next() }
        let crew = ReaderCrew()
        crew.threads = seeds.map { seed in
            GateTests.thread { [database] in
                var generator = SeededGenerator(seed: seed)
                do {
                    let reader = try ReadTransaction(database)
                    while !crew.isOver.load(ordering: .relaxed) {
                        let nap = UInt32.random(in: 0...5_000, using: &generator)
                        let found = try TestDatabase.read(reader) {
                            Thread.sleep(forTimeInterval: Double(nap) / 1_000_000)
                        }
                        if found.count != 1 { crew.note("values of the changes \(found.sorted())") }
                        crew.snapshots.add(1, ordering: .relaxed)
                    }
                } catch { crew.note("\(error)") }
            }
        }
        return crew
    }

    final class ReaderCrew: @unchecked Sendable {  // the threads are set before anybody waits for them
        fileprivate var threads: [GateTests.Steps] = []
        fileprivate let isOver = Atomic(false)
        let snapshots = Atomic(0)
        private let problems = Mutex<Set<String>>([])

        fileprivate func note(_ problem: String) { problems.withLock { _ = $0.insert(problem) } }

        /// - Returns: What was wrong.
        func end() -> Set<String> {
            isOver.store(true, ordering: .relaxed)
            for thread in threads { thread.wait(for: 1) }
            return problems.withLock { $0 }
        }
    }
}
