internal import VaultFormat
package import VaultStorage

extension SecurityLog {
    /// Reads both segments and the state, and proves that they belong together.
    /// - Parameter keys: The keybag's log keys.
    /// - Throws: `busy`, `permissionDenied`, `inputOutput`; whatever is wrong with the log is in the report.
    package func report(
        _ keys: LogKeys, mayGoOn: () throws(VaultError) -> Void = {}
    ) throws(VaultError) -> SecurityLogReport {
        // Held while reading, so that no entry is written between one file and the next.
        let file = try LogStateFile.open(.reading, in: home, vault: vault)
        var verification = LogVerification(state: file?.state, bootID: now.bootID)
        let expected = verification.state.map { LogLink(chain: $0.chain, first: $0.first) }
        var bytes = try segment(LogSegment.name)
        if bytes == nil { bytes = try segment(LogSegment.newName) }
        let newest = try read(bytes, keys, expected, file?.state?.recipient?.epoch, mayGoOn)
        let old = try segment(LogSegment.previousName)
        let previous = try read(old, keys, newest?.begin?.previous, newest?.front.epoch, mayGoOn)
        verification.read(newest, previous, old ?? [])
        if let newest, let state = verification.state {
            let epochKey = keys[newest.front.epoch] ?? keys.newest
            var key = try epochKey.first(of: newest.front.chain)
            try key.evolve(by: min(state.next, LogFormat.mostEntries))
            verification.checkEpoch(state, newest, epochKey, newest: keys)
            verification.check(state, newest, isKeyRight: state.kind != .live || file?.hasKey(key) ?? false)
        }
        if file?.hasBadSector == true {
            verification.report.notes.append("one of the two copies of the log's state is damaged; the other holds")
        }
        return verification.report
    }

    /// - Parameter epoch: Of the key, where the segment does not say it itself.
    private func read(
        _ bytes: [UInt8]?, _ keys: LogKeys, _ link: LogLink?, _ epoch: UInt32?,
        _ mayGoOn: () throws(VaultError) -> Void
    ) throws(VaultError) -> LogReader? {
        guard let bytes else { return nil }
        return try LogReader(bytes, keys: keys, vault: vault, link: link, epoch: epoch, mayGoOn: mayGoOn)
    }

    /// What is no file of its own counts as absent.
    private func segment(_ name: String) throws(VaultError) -> [UInt8]? {
        do throws(VaultError) {
            return try LogSegment.bytes(name, in: home)
        } catch let error where error.code == .damaged { return nil }
    }
}

/// Puts together what two segments and the state say.
private struct LogVerification {
    let state: LogState?
    /// The current boot.
    let bootID: [UInt8]
    var report = SecurityLogReport()

    init(state: LogState?, bootID: [UInt8]) {
        self.state = state
        self.bootID = bootID
    }

    private mutating func find(_ kind: SecurityLogFinding.Kind, at position: UInt64, _ text: String) {
        report.findings.append(SecurityLogFinding(kind, at: position, text))
    }

    /// - Parameter old: The bytes of the previous segment.
    mutating func read(_ newest: LogReader?, _ previous: LogReader?, _ old: [UInt8]) {
        guard let newest else {
            if let previous { verify(previous) }
            return find(.missing, at: state?.first ?? 0, "the newest part of the log is not there")
        }
        let kept = previous.flatMap { isExpected($0, before: newest) ? $0 : nil }
        if let kept { verify(kept) }
        checkSeam(newest, kept)
        if let kept { checkDigest(newest, kept, old) }
        verify(newest)
        if state == nil {
            find(.state, at: newest.end, "the log's state is lost, so that entries cut off at its end are not noticed")
        }
    }

    private mutating func verify(_ segment: LogReader) {
        report.findings += segment.findings
        for (index, entry) in segment.entries {
            judge(index, entry.event)
            report.entries.append(SecurityLogEntry(index: index, entry))
        }
        if segment.begin == nil {
            find(.changed, at: segment.front.first, "entry \(segment.front.first) is not the beginning of a part")
        }
    }

    /// Whether the other segment is the one that the newest was begun behind.
    private func isExpected(_ previous: LogReader, before newest: LogReader) -> Bool {
        guard let begin = newest.begin else { return previous.front.chain == newest.front.chain }
        if previous.front.link == begin.previous { return true }
        // The one between was taken away; the one before it may still be there.
        return previous.front.chain == newest.front.chain && previous.front.first < newest.front.first
    }

    /// Everything between the two segments must be there.
    private mutating func checkSeam(_ newest: LogReader, _ previous: LogReader?) {
        guard let begin = newest.begin else { return }
        let end = begin.end ?? newest.front.first
        guard let previous else {
            if let link = begin.previous, link.first < end {
                report.findings.append(.missing(link.first, end - link.first))
            }
            return
        }
        if previous.end < end {
            let lost = end - previous.end
            if previous.hasSlots(lost) { return report.findings.append(.changed(previous.end, lost)) }
            report.findings.append(.missing(previous.end, lost))
        } else if previous.front.chain == newest.front.chain && previous.end > end {
            find(.state, at: end, "entry \(end) was written twice: the log's state had been put back")
        }
        let mayBeTorn = begin.end != nil && previous.rest <= LogFormat.slotSize
        if previous.rest > 0 && !mayBeTorn {
            find(
                .inserted, at: previous.end,
                "\(previous.rest) bytes stand behind entry \(previous.end), and no writer wrote them")
        }
    }

    /// Entries under older keys must be unchanged since the current keys were made: someone with the older keys could
    /// rewrite them.
    private mutating func checkDigest(_ newest: LogReader, _ previous: LogReader, _ old: [UInt8]) {
        guard case .restarted(let restart) = newest.entries.first?.entry.event, restart.reason == .newKeys else {
            return
        }
        let size = LogFormat.offset(of: restart.found, first: previous.front.first)
        if previous.end > restart.found {
            find(.inserted, at: restart.found, "entries were added under keys that were no longer the vault's")
        }
        guard UInt64(old.count) >= size else { return }  // missing entries are told already
        if unsafe FileChecksum.of(Array(old.prefix(Int(size))).span.bytes) != restart.digest {
            find(.changed, at: previous.front.first, "the part from before the vault's new keys was changed")
        }
    }

    /// The newest part is under the newest keys; only while a rekey is being finished it may not have come to that yet.
    mutating func checkEpoch(_ state: LogState, _ newest: LogReader, _ key: LogEpochKey, newest keys: LogKeys) {
        if newest.front.epoch != keys.newest.epoch && !keys.areChanging {
            find(
                .state, at: newest.front.first, "the newest part was written under keys that are no longer the vault's")
        }
        guard let recipient = state.recipient, recipient != key.recipient else { return }
        find(
            .state, at: state.next,
            "the state has a public key that is not the vault's: what is written now cannot be read")
    }

    /// What the entries themselves say about the log.
    private mutating func judge(_ index: UInt64, _ event: SecurityEvent) {
        switch event {
        case .restarted(let restart):
            switch restart.reason {
            case .nothingFound: find(.restarted, at: index, "the log was begun in a vault that had none")
            case .stateLost: find(.restarted, at: index, "the log's state was lost, and the log begun anew")
            case .backup: report.notes.append("this vault is a backup; its log was begun anew")
            case .restored: report.notes.append("this vault was restored from a backup; its log was begun anew")
            case .newKeys: break  // an event of its own says so
            }
        case .altered(let alteration):
            find(.altered, at: alteration.position, "\(alteration.words) (noticed at entry \(index))")
        case .missed(let count, _):
            report.notes.append(
                "before entry \(index), \(count) \(count == 1 ? "event" : "events") could not be written")
        case .created, .rotated, .unlocked, .confirmed, .locked, .unsettled, .unproven, .runEnded, .fallbackUsed,
            .enrollmentChanged, .policyChanged, .passcodeChanged, .rekeyed, .recovered, .recoveryPhraseSet, .pinSet,
            .levelChanged, .levelContradicted, .floorReplaced, .recordsSetAside, .selfDestruct, .wipeBegun, .device,
            .identity, .inboxMigrated, .drill:
            break
        }
    }

    /// The state against the newest segment.
    mutating func check(_ state: LogState, _ newest: LogReader, isKeyRight: Bool) {
        let end = newest.end
        guard state.chain == newest.front.chain, isKeyRight else {
            return find(.state, at: min(end, state.next), "the state is not that of this log")
        }
        if end < state.next && newest.hasSlots(state.next - end) {
            return report.findings.append(.changed(end, state.next - end))
        }
        if end < state.next {
            let range = state.next - end == 1 ? "entry \(end) was" : "entries \(end) to \(state.next - 1) were"
            find(.cut, at: end, "\(range) cut off")
        }
        guard state.kind == .live else {
            return report.notes.append("this vault is a copy; its log begins anew at the next unlock")
        }
        if end > state.next + 1 {
            let text = "the state is \(end - state.next) entries older than the log"
            if state.bootID == bootID && bootID.contains(where: { $0 != 0 }) {
                find(.state, at: state.next, text + ": it was put back")
            } else {
                report.notes.append(text + ": put back, or taken back by a power cut; nothing is lost")
            }
        }
        guard newest.rest > 0 else { return }
        if newest.rest <= LogFormat.slotSize && end == state.next {
            report.notes.append("an entry was cut short; the next write drops it")
        } else {
            find(.inserted, at: end, "\(newest.rest) bytes stand behind the last entry, and no writer wrote them")
        }
    }
}

extension LogReader {
    /// Whether so many slots stand behind the last entry: then these were changed, not taken away.
    fileprivate func hasSlots(_ count: UInt64) -> Bool {
        rest > 0 && UInt64(rest) == count * UInt64(LogFormat.slotSize)
    }

    /// What a segment's first entry says of the one before.
    struct Begin {
        let previous: LogLink?
        /// The index behind that segment's last entry where it is not this one's first.
        let end: UInt64?
    }

    /// Nil when the first entry is not there, or is not one that begins a segment.
    var begin: Begin? {
        guard let first = entries.first, first.index == front.first else { return nil }
        switch first.entry.event {
        case .created where first.index == 0: return Begin(previous: nil, end: nil)
        case .restarted(let restart) where first.index == 0:
            return Begin(previous: restart.previous, end: restart.found)
        case .rotated(let link): return Begin(previous: link, end: nil)
        case .altered(let alteration):
            let isOther = alteration.previous.map { $0.chain != front.chain } ?? false
            return Begin(previous: alteration.previous, end: isOther ? alteration.previous?.first : nil)
        case .created, .restarted, .missed, .unlocked, .confirmed, .locked, .unsettled, .unproven, .runEnded,
            .fallbackUsed,
            .enrollmentChanged, .policyChanged, .passcodeChanged, .rekeyed, .recovered, .recoveryPhraseSet, .pinSet,
            .levelChanged, .levelContradicted, .floorReplaced, .recordsSetAside, .selfDestruct, .wipeBegun, .device,
            .identity, .inboxMigrated, .drill:
            return nil
        }
    }
}

extension LogAlteration {
    var words: String {
        switch kind {
        case .missing: "the newest part of the log was gone"
        case .replaced: "the newest part of the log was not the one that was written"
        case .cut: "the newest entries had been cut off"
        case .changed: "entry \(position) had been changed"
        case .extended: "something stood behind the newest entry"
        case .stateBehind: "the state had been put back; no entry was lost"
        case .keyReplaced:
            "the log's public key had been replaced; entries before this one may have been read by somebody else"
        }
    }
}
