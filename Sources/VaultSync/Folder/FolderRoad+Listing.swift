package import SyncFormat
internal import SystemCalls

extension FolderRoad {
    /// Lists the road: `s` and its streams, `rosters`, `join`; each folder once, and no file is opened.
    ///
    /// The times of folders spare no listing (decision 865).
    /// - Parameters:
    ///   - memory: What the last listing saw; it is what this one saw afterwards.
    ///   - changed: The folders that a ``RoadWatch`` named; nil for all.
    ///   - now: Milliseconds since 1970. A wrong clock has torn files read in vain, or again at the next unlock alone.
    /// - Throws: `gone`, `tooManyFiles`, and what else the system says of `s`, `rosters` or `join`; the memory stays as
    ///   it was then. A stream that cannot be listed is in ``RoadNews/problems``.
    package func list(
        _ memory: inout RoadMemory, only changed: Set<RoadFolder>? = nil, now: Int64 = WallClock.milliseconds
    ) throws(RoadError) -> RoadNews {
        try checkIsThere()
        var seen = memory
        var news = RoadNews()
        try listStreams(&seen, &news, changed)
        if changed?.contains(.rosters) ?? true {
            let rosters = try names(.rosters, &seen) { RosterFileName(name: $0) }.sorted()
            news.rosters = additions(seen.rosters, rosters)
            seen.rosters = rosters
        }
        if changed?.contains(.joins) ?? true {
            let joins = try names(.joins, &seen) { JoinFileName(name: $0) }.sorted()
            news.joins = additions(seen.joins, joins)
            seen.joins = joins
        }
        try lookAgain(&seen, &news, changed, now)
        memory = seen
        return news
    }

    private func listStreams(
        _ memory: inout RoadMemory, _ news: inout RoadNews, _ changed: Set<RoadFolder>?
    ) throws(RoadError) {
        var streams = Set(memory.entries.keys)
        if changed?.contains(.streams) ?? true {
            let there = Set(try folders(.streams, &memory))
            guard there.count <= SyncLimits.streams else {
                throw .tooManyFiles(RoadFolder.streams.path, limit: SyncLimits.streams)
            }
            for stream in streams.subtracting(there) {
                news.vanished[stream] = memory.entries.removeValue(forKey: stream)
                memory.strangers[.entries(stream)] = nil
            }
            streams = there
        } else {
            // One that could not be listed before is in no memory.
            for case .entries(let stream) in changed ?? [] { streams.insert(stream) }
        }
        for stream in streams {
            // One that has just come is listed, whether or not the watch knew it.
            guard changed?.contains(.entries(stream)) ?? true || memory.entries[stream] == nil else { continue }
            do throws(RoadError) {
                let names = try names(.entries(stream), &memory) { EntryFileName(name: $0) }.sorted()
                let before = memory.entries[stream] ?? []
                let (added, removed) = (additions(before, names), additions(names, before))
                if !added.isEmpty { news.entries[stream] = added }
                if !removed.isEmpty { news.vanished[stream] = removed }
                memory.entries[stream] = names
            } catch {
                news.problems[stream] = error
            }
        }
    }

    /// What was not whole and looks different now, in the folders that are listed.
    private func lookAgain(
        _ memory: inout RoadMemory, _ news: inout RoadNews, _ changed: Set<RoadFolder>?, _ now: Int64
    ) throws(RoadError) {
        let files = memory.setAside.keys.filter { changed?.contains($0.folder) ?? true }
        for (folder, files) in Dictionary(grouping: files, by: \.folder) {
            guard let opened = try openedFolder(folder) else {
                for file in files { memory.setAside[file] = nil }
                continue
            }
            for file in files {
                let mark = FileMark(of: file.name, in: opened.number)
                guard mark != memory.setAside[file] || mark?.isSettled(at: now) == false else { continue }
                memory.setAside[file] = nil
                if mark != nil { news.retries.append(file) }
            }
        }
        // What is new needs no second mention.
        news.retries.removeAll { file in
            guard case .entry(let stream, let name) = file else { return false }
            return news.entries[stream]?.contains(name) ?? false
        }
    }

    /// The files of a folder; everything else is counted.
    private func names<Name>(
        _ folder: RoadFolder, _ memory: inout RoadMemory, _ parse: ([UInt8]) -> Name?
    ) throws(RoadError) -> [Name] {
        try read(folder, &memory, isOurs: { $0 == .file || $0 == .unknown }, parse)
    }

    private func folders(_ folder: RoadFolder, _ memory: inout RoadMemory) throws(RoadError) -> [StreamID] {
        try read(folder, &memory, isOurs: { $0 == .folder || $0 == .unknown }) { StreamID(digits: $0) }
    }

    private func read<Name>(
        _ folder: RoadFolder, _ memory: inout RoadMemory, isOurs: (FolderNames.Kind) -> Bool,
        _ parse: ([UInt8]) -> Name?
    ) throws(RoadError) -> [Name] {
        memory.strangers[folder] = nil
        guard let opened = try openedNumber(folder) else { return [] }
        var result: [Name] = []
        var strangers: [RoadStranger: Int] = [:]
        for entry in try FolderNames.read(closing: opened, of: folder.path) {
            guard let name = parse(entry.name) else {
                strangers[RoadStranger(name: entry.name), default: 0] += 1
                continue
            }
            guard isOurs(entry.kind) else {
                strangers[.wrongKind, default: 0] += 1
                continue
            }
            result.append(name)
        }
        if !strangers.isEmpty { memory.strangers[folder] = strangers }
        return result
    }

    /// The pieces that a stream's writer has on the road, in order.
    /// - Throws: `tooManyFiles`, and what the system says.
    package func pieces(of stream: StreamID) throws(RoadError) -> [PieceFileName] {
        try checkIsThere()
        var memory = RoadMemory()
        return try names(.piecesOf(stream), &memory) { PieceFileName(name: $0) }.sorted()
    }

    /// The streams that have a folder for their entries.
    func streams() throws(RoadError) -> [StreamID] {
        var memory = RoadMemory()
        let streams = try folders(.streams, &memory)
        guard streams.count <= SyncLimits.streams else {
            throw .tooManyFiles(RoadFolder.streams.path, limit: SyncLimits.streams)
        }
        return streams
    }

    /// The streams whose writers have pieces on the road.
    /// - Throws: As ``pieces(of:)``.
    package func streamsWithPieces() throws(RoadError) -> [StreamID] {
        try checkIsThere()
        var memory = RoadMemory()
        let streams = try folders(.pieces, &memory).sorted()
        guard streams.count <= SyncLimits.streams else {
            throw .tooManyFiles(RoadFolder.pieces.path, limit: SyncLimits.streams)
        }
        return streams
    }
}

/// What the second list has and the first has not; both are in order.
private func additions<Name: Comparable>(_ old: [Name], _ new: [Name]) -> [Name] {
    var result: [Name] = []
    var place = 0
    for name in new {
        while place < old.count, old[place] < name { place += 1 }
        if place == old.count || old[place] != name { result.append(name) }
    }
    return result
}
