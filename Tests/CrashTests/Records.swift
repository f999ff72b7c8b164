#if os(Linux) && !canImport(Darwin)
import CrashSubject
import VaultCore
import VaultStorage

/// What a vault must hold after a crash: what was acknowledged, and perhaps the one operation that was not.
struct Acknowledged {
    private(set) var records: [Place: Content]
    /// Begun and not acknowledged, for each thread of the subject.
    private(set) var inFlight: [Int: Operation] = [:]
    private(set) var operations = 0
    /// Operations that were killed, and turned out to be done or not.
    private(set) var killed = (done: 0, undone: 0)

    init(_ records: [Place: Content] = [:]) { self.records = records }

    /// Follows the lines of `CrashSubject write`.
    mutating func follow(_ lines: [String]) throws {
        for line in lines where line != "ready" {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count >= 2, let thread = Int(words[1]) else { throw Problem("not understood: \(line)") }
            switch words[0] {
            case "begin":
                guard words.count == 3, let operation = Operation(parsing: words[2]) else {
                    throw Problem("not understood: \(line)")
                }
                inFlight[thread] = operation
            case "done":
                guard let operation = inFlight.removeValue(forKey: thread) else { throw Problem("done without begin") }
                apply(operation)
            default: throw Problem("not understood: \(line)")
            }
        }
    }

    mutating func begin(_ operation: Operation) { inFlight[0] = operation }

    /// The operation that was begun is there, or was refused and is not.
    mutating func end(done: Bool) {
        guard let operation = inFlight.removeValue(forKey: 0) else { return }
        if done { apply(operation) }
    }

    private mutating func apply(_ operation: Operation) {
        for change in operation.changes { change.apply(to: &records) }
        operations += 1
    }

    /// Reads the whole vault and says what is wrong with it. What was in flight may be there or not, but never in part.
    /// Afterwards the records are those that were found.
    mutating func compare(_ vault: Vault) throws -> String? {
        let listed = try vault.records().map { Place($0.collection, $0.name) }
        let found = try [Place: [UInt8]](uniqueKeysWithValues: listed.map { ($0, try vault.bytes(at: $0)) })
        var undecided = records
        for operation in inFlight.values {
            let places = Set(operation.changes.map(\.place))
            var after = records
            for change in operation.changes { change.apply(to: &after) }
            let isBefore = places.allSatisfy { found[$0] == records[$0]?.bytes() }
            let isAfter = places.allSatisfy { found[$0] == after[$0]?.bytes() }
            guard isBefore || isAfter else { return "done in part: \(operation.text)" }
            if isAfter { for place in places { undecided[place] = after[place] } }
            if isAfter { killed.done += 1 } else { killed.undone += 1 }
        }
        records = undecided
        inFlight = [:]
        for place in Set(found.keys).subtracting(records.keys) { return "\(place) came back" }
        for (place, content) in records {
            guard let bytes = found[place] else { return "\(place) is lost" }
            if bytes != content.bytes() { return "\(place) has other bytes: \(bytes.count) instead of \(content.size)" }
        }
        return nil
    }
}

extension Change {
    var place: Place {
        switch self {
        case .set(let place, _), .delete(let place): place
        }
    }
}

extension Vault {
    /// Intact but for files that no record names, which can be removed.
    func verifyAndClean() throws -> String? {
        let found = try verify()
        guard found.isIntact else { return "verify: \(found)" }
        let removed = try removeOrphanedFiles()
        guard removed == found.orphanedFiles else { return "\(found.orphanedFiles) orphans, \(removed) removed" }
        guard removed > 0 else { return nil }
        return try verify().orphanedFiles == 0 ? nil : "orphans are left"
    }

    /// Whether a passcode opens it. The test's own attempts start without a delay.
    func opens(_ number: Int, _ clock: FileClock) throws -> Bool {
        // Twice: the delay of a burn that was cut short begins when the ledger is read next.
        for isLast in [false, true] {
            clock.advance(milliseconds: 3_600_001)
            do {
                try unlock(number)
                return true
            } catch let error as VaultError where error.code == .wrongPasscode {
                return false
            } catch let error as VaultError where error.code == .delayed && !isLast { continue }
        }
        return false
    }

    func opens(phrase number: Int) throws -> Bool {
        do {
            try unlock(phrase: Known.phrase(number))
            return true
        } catch let error as VaultError where error.code == .wrongPhrase { return false }
    }
}
#endif
