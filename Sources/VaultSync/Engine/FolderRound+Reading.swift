internal import SecretMemory
internal import SyncFormat
internal import VaultCore
internal import VaultFormat

/// Reading what others wrote. All of it is hostile until its signature is known; its writer may be hostile after that.
extension FolderRound {
    /// Reads all streams as far as they are there, each entry after all that its writer had seen.
    func readStreams() throws(SyncError) {
        var isFurther = true
        while isFurther {
            isFurther = false
            let before = named.count
            for stream in memory.entries.keys.sorted() where stream != home.stream && !stopped.contains(stream) {
                if try read(stream) { isFurther = true }
            }
            if named.count > before { isFurther = true }
        }
        try commit()
    }

    /// - Returns: Whether anything was taken.
    private func read(_ stream: StreamID) throws(SyncError) -> Bool {
        let names = memory.entries[stream] ?? []
        try lookForForks(stream, names)
        var isFurther = false
        while !stopped.contains(stream) {
            let next = (known(stream)?.reached ?? 0) + 1
            let candidates = names.from(next).prefix { $0.number == next }
            if candidates.isEmpty {
                if let last = names.last, last.number > next, !isEnded(stream, at: next) {
                    report.hitches.insert(.missing(stream, from: next))
                }
                break
            }
            var isTaken = false
            for name in candidates where try take(name, of: stream) { isTaken = true }
            guard isTaken else { break }
            report.hitches.remove(.missing(stream, from: next))
            isFurther = true
        }
        return isFurther
    }

    private func isEnded(_ stream: StreamID, at number: UInt64) -> Bool {
        guard let last = known(stream)?.reader.last else { return false }
        return number > last
    }

    /// Entries with numbers that were taken, and other hashes.
    private func lookForForks(_ stream: StreamID, _ names: [EntryFileName]) throws(SyncError) {
        guard let reader = known(stream)?.reader else { return }
        for name in names.prefix(while: { $0.number <= UInt64(reader.marks.count) })
        where name.mark != reader.marks[Int(name.number - 1)] && !isEnded(stream, at: name.number) {
            _ = try take(name, of: stream)
            if stopped.contains(stream) { return }
        }
    }

    /// Takes an entry, if it is the next one and all is there that it needs.
    private func take(_ name: EntryFileName, of stream: StreamID) throws(SyncError) -> Bool {
        guard let signed = try signed(name, of: stream) else { return false }
        let reader = known(stream)?.reader ?? home.newReader(of: stream, by: signed.member)
        switch signed.judged(by: reader) {
        case .known, .gap: return false
        case .behind:
            // Of a removed member, and met for the first time: what others have seen of it is not waited for.
            if known(stream) == nil { intake.streams[stream] = KnownStream(reader, of: signed.member) }
            return false
        case .fork(let number, let evidence):
            try fork(stream, at: number, evidence)
            return false
        case .next(let verified):
            guard let held = home.roster(of: verified.front), held.roster.member(verified.member) != nil else {
                report.hitches.insert(.missingRoster(stream, epoch: verified.front.epoch))
                return false
            }
            do throws(SyncError) { return try take(verified, held, reader) } catch {
                switch error {
                case .format(.newerVersion(let version)):
                    stop(stream, .newerVersion(stream, .newerVersion(version)))
                case .format: try refuse(stream, at: verified.front.number, verified.member, error)
                // Of another roster with the same mark, perhaps: what cannot be opened waits.
                case .notAuthentic: report.hitches.insert(.missingRoster(stream, epoch: verified.front.epoch))
                default: throw error
                }
                return false
            }
        }
    }

    /// The entry of this name, if somebody signed it who may write the stream. What is not whole, or of nobody, waits
    /// until it changes.
    func signed(_ name: EntryFileName, of stream: StreamID) throws(SyncError) -> SignedEntry? {
        let file = RoadFile.entry(stream, name)
        guard !memory.isSetAside(file) else { return nil }
        guard case .bytes(let bytes, let mark) = try onFolder({ () throws(RoadError) in try road.read(file, &memory) })
        else { return nil }
        do throws(SyncError) {
            let received = try ReceivedEntry(parsing: bytes)
            let front = received.front
            guard front.group == home.group, front.stream == stream, front.number == name.number else {
                throw .notAuthentic("entry place")
            }
            if known(stream) == nil, knownStreams.count >= SyncLimits.streams {
                report.hitches.insert(.tooManyStreams)
                return nil
            }
            let signed = try received.signed(by: home.signers(known(stream)?.member), known(stream)?.member)
            // One member must not use up all streams, nor have more than a roster that removes it can name.
            if known(stream) == nil, named[stream, default: []].subtracting([signed.member]).isEmpty,
                knownStreams.values.count(where: { $0.member == signed.member }) >= SyncLimits.streamsOfMember
            {
                report.hitches.insert(.tooManyStreams)
                return nil
            }
            return signed
        } catch {
            switch error {
            case .format(.newerVersion(let version)):
                report.hitches.insert(.newerVersion(stream, .newerVersion(version)))
            case .format, .notAuthentic: report.hitches.insert(.stranger(stream))
            default: throw error
            }
            memory.setAside(file, mark)
            return nil
        }
    }

    private func take(
        _ verified: VerifiedEntry, _ held: HeldRoster, _ reader: StreamReader
    ) throws(SyncError) -> Bool {
        let (stream, front) = (verified.front.stream, verified.front)
        let opened = try held.key.with { key throws(SyncError) in try verified.open(with: key) }
        switch Delivery(opened.contents.heads, knownStreams.mapValues(\.reader)) {
        case .ready: break
        case .waits(let missing):
            for (head, number) in missing {
                report.hitches.insert(.missing(head.stream, from: number))
                named[head.stream, default: []].insert(verified.member)
            }
            return false
        case .contradicts(let heads):
            for head in heads { report.hitches.insert(.fork(head.stream, at: head.number)) }
            return false
        }
        var next = known(stream) ?? KnownStream(reader, of: verified.member)
        guard next.reader.take(number: front.number, before: front.before, hash: verified.head.hash) else {
            throw .format(.invalid(field: "entry number"))
        }
        var streams = knownStreams
        streams[stream] = next
        let heads = home.heads(streams)
        var states: [SyncState] = []
        var ids: Set<SyncItemID> = []
        for index in 0..<opened.count {
            let state = try opened.withChange(index) { change throws(SyncError) in
                try self.state(of: change, stream, front.number)
            }
            guard let state else { return false }
            let (id, isWithin) = try state.bytes.withBytes { bytes throws(SyncError) in
                try StateJoin.received(bytes, within: heads)
            }
            guard isWithin else {
                // It builds on what its writer's earlier streams had seen.
                report.hitches.insert(.waits(stream, of: front.number))
                return false
            }
            guard ids.insert(id).inserted else { throw .format(.invalid(field: "entry changes")) }
            states.append(state)
        }
        // In one transaction this device can say an item again only once.
        if !intake.items.isDisjoint(with: ids) || intake.changes + states.count > EntryFill.most { try commit() }
        // The entries before it may have been refused.
        guard !stopped.contains(stream) else { return false }
        intake.add(TakenEntry(number: front.number, states: states, items: ids, stream: next))
        if intake.changes >= EntryFill.most || intake.bytes >= GroupHome.Batch.bytes || intake.streams.count >= 64 {
            try commit()
        }
        return !stopped.contains(stream)
    }

    /// The state that a change has; nil while a piece of it is missing.
    private func state(of change: RawSpan, _ stream: StreamID, _ number: UInt64) throws(SyncError) -> SyncState? {
        let (form, content) = try format { () throws(FormatError) in try ChangeForm.parse(change) }
        let bytes = change.extracting(content)
        guard form == .pieces else {
            return SyncState(try secretMemory { () throws(SecretMemoryError) in try SecretBytes(copying: bytes) })
        }
        var assembly = try PieceAssembly(bytes, limit: UInt64(StateLimits.InEntry.size))
        while let id = assembly.next {
            guard let name = PieceFileName(id: id) else { throw .format(.invalid(field: "piece list")) }
            if try add(name, in: [stream], to: &assembly) { continue }
            let others = try onFolder { () throws(RoadError) in try road.streamsWithPieces() }
            guard try add(name, in: others.filter { $0 != stream }, to: &assembly) else {
                report.hitches.insert(.missingPiece(stream, of: number))
                return nil
            }
        }
        return SyncState(try assembly.finish())
    }

    /// Adds a piece from the first of some streams that has it as it was sealed. One that is torn or was exchanged is
    /// passed over: its writer puts it back.
    private func add(
        _ name: PieceFileName, in streams: [StreamID], to assembly: inout PieceAssembly
    ) throws(SyncError) -> Bool {
        for stream in streams {
            guard let piece = try onFolder({ () throws(RoadError) in try road.piece(name, in: [stream]) }) else {
                continue
            }
            do throws(SyncError) {
                try assembly.add(piece)
                return true
            } catch {
                guard case .notAuthentic = error else { throw error }
            }
        }
        return false
    }

    func stop(_ stream: StreamID, _ hitch: RoundHitch) {
        stopped.insert(stream)
        report.hitches.insert(hitch)
    }
}

extension EntryFileName {
    /// The start of the hash, as a stream's reader keeps it.
    var mark: UInt64 { hash.value.byteSwapped }
}

extension [EntryFileName] {
    /// Those from a number on; they are in order.
    func from(_ number: UInt64) -> ArraySlice<EntryFileName> {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return self[low...]
    }
}
