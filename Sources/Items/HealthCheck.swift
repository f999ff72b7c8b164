internal import Cryptography
internal import SecretMemory
internal import Synchronization
internal import SystemCalls
internal import VaultCore
internal import VaultFormat
package import VaultStorage

/// A look at all passwords of a vault: which are weak, shared by entries, old, or known from breaches.
///
/// Of each password it keeps a digest under a key that is made for this look, and with a list of breached ones the
/// SHA-1, both in locked memory. They go with the look, and with a lock of the vault.
package final class HealthCheck: KeyHolder {
    private let state: Mutex<State>
    private let rule: HealthRule
    private let list: BreachList?
    private let now: Int64

    /// A password, without anything of it.
    fileprivate struct Password {
        let entry: EntryPath
        let label: String
        let level: PasscodeStrength.Level
        let changed: Int64
        let isWanted: Bool
    }

    fileprivate struct State: ~Copyable {
        /// Nil once a lock has dropped it.
        var key: SecretBytes?
        /// For each password in turn, ``HealthCheck/digestSize`` bytes.
        var digests = SecretBuffer()
        var passwords: [Password] = []
        var counts = HealthReport.Counts()
    }

    fileprivate static let keyedSize = 32
    fileprivate static let digestSize = keyedSize + SHA1.size

    /// - Parameter list: What breached passwords are looked for in; nil for not at all.
    /// - Throws: `outOfMemory`, `cryptography`.
    package convenience init(_ rule: HealthRule, against list: BreachList? = nil) throws(VaultError) {
        try self.init(rule, against: list, now: WallClock.milliseconds)
    }

    package init(_ rule: HealthRule, against list: BreachList? = nil, now: Int64) throws(VaultError) {
        self.rule = rule
        self.list = list
        self.now = now
        var key = try locked { () throws(SecretMemoryError) in
            try SecretBytes(zeroed: HealthCheck.keyedSize, lifetime: .longLived)
        }
        do throws(CryptographyError) {
            try key.withMutableBytes { bytes throws(CryptographyError) in try SecureRandom.fill(&bytes) }
        } catch { throw VaultError(error) }
        state = Mutex(State(key: key))
    }

    // A lock of the vault calls this with the gate held: nothing here may call the vault under the state's own lock.
    package func dropKeys() {
        state.withLock { state in
            state.key = nil
            state.digests = SecretBuffer()
            state.passwords = []
        }
    }

    /// Looks at an item.
    /// - Parameter isWanted: Whether what is wrong with it is told; else it only counts where another entry has the
    ///   same password.
    /// - Throws: `locked` after a lock of the vault, `outOfMemory`.
    package func add(_ item: borrowing Item, at entry: EntryPath, isWanted: Bool = true) throws(VaultError) {
        let layout = item.layout
        try item.withBytes { bytes throws(VaultError) in try add(layout, bytes, entry, isWanted: isWanted) }
    }

    /// Counts an entry that is no item: nobody knows whether a plain value is a password.
    package func addOther(isWanted: Bool = true) {
        if isWanted { state.withLock { $0.counts.entries += 1 } }
    }

    /// Counts an entry that is not looked at, because its user wants to be asked before it is used.
    package func addGuarded(isWanted: Bool = true) {
        if isWanted { state.withLock { $0.counts.guarded += 1 } }
    }

    func add(_ layout: ItemLayout, _ bytes: RawSpan, _ entry: EntryPath, isWanted: Bool) throws(VaultError) {
        guard AskRule(tags: layout.tags.map { bytes.text($0) }) == .never else {
            return addGuarded(isWanted: isWanted)
        }
        defer { WorkingMemory.wipe() }
        let passwords = layout.passwords(bytes)
        try state.withLock { state throws(VaultError) in
            guard state.key != nil else { throw .locked }
            if isWanted { state.counts.entries += 1 }
            for field in passwords {
                let value = bytes.extracting(field.value)
                try state.remember(value, withSHA1: list != nil)
                if isWanted { state.counts.passwords += 1 }
                state.passwords.append(
                    Password(
                        entry: entry, label: bytes.text(field.label), level: PasscodeStrength(of: value).level,
                        changed: layout.changed(field, bytes), isWanted: isWanted))
            }
        }
    }

    /// What was found. The digests are dropped.
    /// - Parameters:
    ///   - outOfReach: Collections that were not read.
    ///   - progress: Told how far the search in the list is; what it throws ends it.
    package func finish(
        outOfReach: Int = 0, _ progress: (HealthProgress) throws(VaultError) -> Void = { _ in }
    ) throws(HealthError) -> HealthReport {
        defer { dropKeys() }
        let (passwords, groups, isThere) = state.withLock { ($0.passwords, $0.groups(), $0.key != nil) }
        guard isThere else { throw .vault(VaultError.locked) }
        var counts = state.withLock { $0.counts }
        counts.outOfReach = outOfReach
        var findings: [HealthReport.Finding] = []
        func tell(_ password: Password, _ reason: HealthReport.Reason) {
            findings.append(.init(entry: password.entry, label: password.label, reason: reason))
        }
        // Whatever time an item names, nothing overflows.
        let limit = now - Int64(rule.oldAfterDays) * 86_400_000
        for (number, password) in passwords.enumerated() where password.isWanted {
            if password.level < .fair { tell(password, .weak(password.level)) }
            if let group = groups[number] { tell(password, .reused(group: group.number, entries: group.entries)) }
            if password.changed <= limit { tell(password, .old(since: password.changed)) }
        }
        if let list {
            let wanted = passwords.indices.filter { passwords[$0].isWanted }
            for (done, number) in wanted.enumerated() {
                try HealthCheck.tell(progress, .lookingUp(done: done, total: wanted.count))
                switch try answer(number, list) {
                case .absent: break
                case .listed(let times): tell(passwords[number], .breached(times: times))
                case .noRange: counts.withoutRange += 1
                }
            }
            guard wanted.isEmpty || counts.withoutRange < wanted.count else { throw .list(.noRanges) }
            try HealthCheck.tell(progress, .lookingUp(done: wanted.count, total: wanted.count))
        }
        return HealthReport(findings, counts)
    }

    static func tell(
        _ progress: (HealthProgress) throws(VaultError) -> Void, _ step: HealthProgress
    ) throws(HealthError) {
        do throws(VaultError) { try progress(step) } catch { throw .vault(error) }
    }

    /// Not under the state's lock: a slow disk must not keep the vault from being locked.
    private func answer(_ number: Int, _ list: BreachList) throws(HealthError) -> BreachList.Answer {
        let digest: SecretBytes
        do throws(VaultError) {
            digest = try state.withLock { state throws(VaultError) in try state.sha1(number) }
        } catch {
            throw .vault(error)
        }
        do throws(BreachListError) { return try list.find(digest) } catch { throw .list(error) }
    }
}

extension HealthCheck.State {
    fileprivate mutating func remember(_ password: RawSpan, withSHA1: Bool) throws(VaultError) {
        do throws(CryptographyError) {
            let keyed = try keyedDigest(password)
            let sha1 = withSHA1 ? try SHA1.hash(ofSecret: password) : nil
            do throws(SecretMemoryError) {
                try keyed.withBytes { bytes throws(SecretMemoryError) in try digests.append(bytes) }
                switch sha1 {
                case .some(let sha1):
                    try sha1.withBytes { bytes throws(SecretMemoryError) in try digests.append(bytes) }
                case .none: for _ in 0..<SHA1.size { try digests.append(UInt8(0)) }
                }
            } catch { throw CryptographyError.memory(error) }
        } catch { throw VaultError(error) }
    }

    private func keyedDigest(_ password: RawSpan) throws(CryptographyError) -> SecretBytes {
        switch key {
        case .some(let key):
            var hash = try BLAKE3(key: key)
            hash.update(password)
            do throws(SecretMemoryError) {
                return try SecretBytes(count: HealthCheck.keyedSize) { hash.finalize(into: &$0) }
            } catch { throw .memory(error) }
        case .none: throw .invalidSize
        }
    }

    fileprivate func sha1(_ number: Int) throws(VaultError) -> SecretBytes {
        guard key != nil else { throw .locked }
        let start = number * HealthCheck.digestSize + HealthCheck.keyedSize
        return try digests.withBytes { bytes throws(VaultError) in
            try locked { () throws(SecretMemoryError) in
                try SecretBytes(copying: bytes.extracting(start..<start + SHA1.size))
            }
        }
    }

    /// For the passwords that several entries have: which group they are of, and how many entries that has.
    fileprivate func groups() -> [Int: (number: Int, entries: Int)] {
        guard key != nil else { return [:] }
        var groups: [Int: (number: Int, entries: Int)] = [:]
        digests.withBytes { bytes in
            func keyed(_ number: Int) -> Range<Int> {
                let start = number * HealthCheck.digestSize
                return start..<start + HealthCheck.keyedSize
            }
            let order = passwords.indices.sorted { bytes.extracting(keyed($0)).isBefore(bytes.extracting(keyed($1))) }
            var same: [[Int]] = []
            for number in order {
                if let last = same.last?.last,
                    constantTimeEquals(bytes.extracting(keyed(last)), bytes.extracting(keyed(number)))
                {
                    same[same.count - 1].append(number)
                } else {
                    same.append([number])
                }
            }
            // By their first entry, so that neither the order of random digests is seen nor that of reading.
            let shared = same.map { (members: $0.sorted(), entries: Set($0.map { passwords[$0].entry })) }
                .filter { $0.entries.count > 1 }
                .map { (members: $0.members, entries: $0.entries.count, first: $0.entries.map(\.text).min() ?? "") }
                .sorted { ($0.first, $0.members[0]) < ($1.first, $1.members[0]) }
            for (group, (members, entries, _)) in shared.enumerated() {
                for member in members { groups[member] = (group, entries) }
            }
        }
        return groups
    }
}

extension ItemLayout {
    /// The fields that hold a password: secrets that are called so and, where a login has none, what it is read for.
    fileprivate func passwords(_ bytes: RawSpan) -> [Field] {
        let secrets = fields.filter { $0.kind == .secret && !$0.value.isEmpty }
        let named = secrets.filter { Item.isPasswordLabel(bytes.text($0.label)) }
        return named.isEmpty && front.kind == .login ? Array(secrets.prefix(1)) : named
    }

    /// When a field got its value: when the one before was replaced, where that is known.
    fileprivate func changed(_ field: Field, _ bytes: RawSpan) -> Int64 {
        let label = bytes.extracting(field.label)
        let replaced = history.filter { earlier in
            earlier.field.kind == field.kind && constantTimeEquals(bytes.extracting(earlier.field.label), label)
        }.map(\.replaced).max()
        return min(replaced ?? front.modified, front.modified)
    }
}

extension Item {
    /// Whether a secret of this label is a password, of which people choose how strong it is.
    package static func isPasswordLabel(_ label: String) -> Bool {
        let label = label.lowercased()
        return ["password", "passphrase"].contains { label.contains($0) }
    }
}

extension ItemStore {
    /// Looks at all passwords: which are weak, shared by entries, old, or known from breaches.
    /// - Parameters:
    ///   - list: What breached passwords are looked for in; nil for not at all.
    ///   - isWanted: Whether what is wrong with an entry is told.
    ///   - progress: Told how far it is; what it throws ends it.
    /// - Throws: `locked`, `damaged`, `outOfMemory`; what is wrong with the list.
    package func health(
        _ rule: HealthRule = HealthRule(), against list: BreachList? = nil,
        where isWanted: (EntryPath) -> Bool = { _ in true },
        progress: (HealthProgress) throws(VaultError) -> Void = { _ in }
    ) throws(HealthError) -> HealthReport {
        let check: HealthCheck
        do throws(VaultError) {
            check = try HealthCheck(rule, against: list)
        } catch { throw .vault(error) }
        defer {
            vault.letGo(of: check)
            check.dropKeys()
        }
        do throws(VaultError) {
            let total = try vault.records().count
            var done = 0
            _ = try vault.forEachContent(for: check) { info, content throws(VaultError) in
                if info.isItem, Admission.isReservedName(info.name) { return }
                let entry = EntryPath(collection: info.collection, name: info.name)
                if info.isItem {
                    try check.add(ItemLayout(stored: content), content, entry, isWanted: isWanted(entry))
                } else {
                    check.addOther(isWanted: isWanted(entry))
                }
                done = min(done + 1, total)
                try progress(.reading(done: done, total: total))
            }
        } catch { throw .vault(error) }
        return try check.finish(outOfReach: vault.collectionsOutOfReach.count, progress)
    }
}
