internal import Cryptography
package import SyncFormat
package import SystemCalls

/// What a reader got of a file.
package enum RoadReading: Sendable, Hashable {
    /// All of it, and what it looked like: for ``RoadMemory/setAside(_:_:)``, when the bytes make no sense.
    case bytes([UInt8], FileMark)
    /// It is gone: the road is to be listed again.
    case vanished
    /// It is not there yet. It waits until it changes, and the rest is read meanwhile.
    case notYet(RoadUnready)
}

/// Why a file counts as not there yet.
package enum RoadUnready: Sendable, Hashable {
    /// No whole file of its kind has so many bytes.
    case wrongSize
    /// The bytes are not those of its name: half of it is still to come, or it was changed.
    case wrongHash
    /// A link, a folder or a pipe has its name.
    case notAFile
    /// The system says this of the file alone.
    case unreadable(SystemError)
}

extension FolderRoad {
    /// Reads a file.
    /// - Parameter memory: Gets the file where it is not there yet.
    /// - Throws: Only what concerns every file: `gone`, `unreachable`, no descriptors, no memory.
    package func read(_ file: RoadFile, _ memory: inout RoadMemory) throws(RoadError) -> RoadReading {
        let (reading, mark) = try reading(file)
        switch reading {
        case .bytes, .vanished: memory.setAside[file] = nil
        case .notYet: memory.setAside[file] = mark
        }
        return reading
    }

    /// Reads a piece from the first of some streams that has it whole.
    /// - Parameter streams: Where to look: the stream whose entry names it, and ``streamsWithPieces()``.
    /// - Returns: Nil when none has it yet.
    package func piece(_ name: PieceFileName, in streams: [StreamID]) throws(RoadError) -> [UInt8]? {
        for stream in streams {
            if case .bytes(let bytes, _) = try reading(.piece(stream, name)).reading { return bytes }
        }
        return nil
    }

    private func reading(_ file: RoadFile) throws(RoadError) -> (reading: RoadReading, mark: FileMark?) {
        let opened: OwnedDescriptor
        do throws(BeneathError) {
            // Another name elsewhere does no harm: tools that copy, and our own writer, give files two for a while.
            opened = OwnedDescriptor(
                owning: try Beneath(folder.number).file(file.path, O_RDONLY, evenIfLinked: true))
        } catch {
            switch error {
            case .notThere: return (.vanished, nil)
            case .link, .notRegular, .notFolder, .hardLinked: return (.notYet(.notAFile), mark(file))
            case .system(let number): return (try unreadable(SystemError(number), file), mark(file))
            }
        }
        do throws(SystemError) {
            let status = try opened.status()
            let mark = FileMark(status)
            guard file.canHave(size: Int(status.st_size)) else { return (.notYet(.wrongSize), mark) }
            // One byte more shows that it has grown.
            let bytes = try opened.readPrefix(Int(status.st_size) + 1)
            guard bytes.count == Int(status.st_size) else { return (.notYet(.wrongSize), mark) }
            guard FolderRoad.isWhole(bytes, file) else { return (.notYet(.wrongHash), mark) }
            return (.bytes(bytes, mark), mark)
        } catch {
            return (try unreadable(error, file), mark(file))
        }
    }

    private func mark(_ file: RoadFile) -> FileMark? {
        guard let opened = try? openedFolder(file.folder) else { return nil }
        return FileMark(of: file.name, in: opened.number)
    }

    private func unreadable(_ error: SystemError, _ file: RoadFile) throws(RoadError) -> RoadReading {
        let general = RoadError(error, file.path)
        switch general {
        case .gone, .unreachable: throw general
        default: break
        }
        guard ![EMFILE, ENFILE, ENOMEM].contains(error.number) else { throw general }
        return .notYet(.unreadable(error))
    }

    /// Whether bytes are those that a name says, where it says that.
    static func isWhole(_ bytes: [UInt8], _ file: RoadFile) -> Bool {
        guard let hash = file.hash else { return true }
        return RoadNumber(hash: unsafe BLAKE3.hash(bytes.span.bytes).bytes) == hash
    }
}
