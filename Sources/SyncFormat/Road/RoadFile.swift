/// A folder of a road, below the one that the user chose.
package enum RoadFolder: Sendable, Hashable {
    /// `s`: a folder for each stream.
    case streams
    /// `s/STREAM`: a stream's entries.
    case entries(StreamID)
    /// `p`: a folder for each stream.
    case pieces
    /// `p/STREAM`: the pieces that a stream's writer wrote.
    case piecesOf(StreamID)
    /// `rosters`.
    case rosters
    /// `join`.
    case joins

    /// Those that every road has.
    package static let fixed: [RoadFolder] = [.streams, .pieces, .rosters, .joins]

    /// From the road's own folder.
    package var path: String {
        switch self {
        case .streams: "s"
        case .entries(let stream): "s/\(stream)"
        case .pieces: "p"
        case .piecesOf(let stream): "p/\(stream)"
        case .rosters: "rosters"
        case .joins: "join"
        }
    }
}

/// A file of a road: what it is, and where.
package enum RoadFile: Sendable, Hashable {
    case entry(StreamID, EntryFileName)
    case piece(StreamID, PieceFileName)
    case roster(RosterFileName)
    case join(JoinFileName)

    package var folder: RoadFolder {
        switch self {
        case .entry(let stream, _): .entries(stream)
        case .piece(let stream, _): .piecesOf(stream)
        case .roster: .rosters
        case .join: .joins
        }
    }

    /// Its name in its folder.
    package var name: String {
        switch self {
        case .entry(_, let name): name.name
        case .piece(_, let name): name.name
        case .roster(let name): name.name
        case .join(let name): name.name
        }
    }

    /// From the road's own folder.
    package var path: String { "\(folder.path)/\(name)" }

    /// The start of the hash of its bytes, where its name has that. A piece is named by what lies under its seal.
    package var hash: RoadNumber? {
        switch self {
        case .entry(_, let name): name.hash
        case .piece: nil
        case .roster(let name): name.hash
        case .join(let name): name.hash
        }
    }

    /// Whether a whole file can have so many bytes.
    package func canHave(size: Int) -> Bool {
        switch self {
        case .entry, .join: EntrySize.allowed.contains(size)
        case .piece: size == PieceList.sealedSize
        case .roster: RosterSize.boxes(in: size) != nil
        }
    }
}

/// What a road may hold.
package enum RoadLimits {
    /// Names of one folder, with everything that is passed over.
    package static let names = 65_536
}
