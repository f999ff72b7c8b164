import Foundation
import MemorySearch
import RealParts
import TestSupport
import Testing

/// What must be nowhere in a process after a lock.
struct Needles {
    private struct Piece {
        let name: String
        let bytes: [UInt8]
    }
    private var pieces: [Piece] = []

    static let cannotSearch: Comment =
        "this process may not trace another, or runs under a sanitizer: nobody looks whether a locked process forgot"

    /// A parent may trace its child, unless the system wants root for that.
    static var canSearch: Bool {
        let scope = try? String(contentsOfFile: "/proc/sys/kernel/yama/ptrace_scope", encoding: .utf8)
        return !Sanitizer.isPresent && (getuid() == 0 || scope.map { $0.hasPrefix("0") || $0.hasPrefix("1") } ?? true)
    }

    /// A key, whole or any of its quarters, as it lies and as code may turn it: its words swapped as SHA-256 does, or
    /// from the other end as a large number lies.
    mutating func add(key: [UInt8], _ name: String) {
        let swapped = stride(from: 0, to: key.count, by: 4).flatMap { key[$0..<min($0 + 4, key.count)].reversed() }
        for (form, bytes) in [("", key), (", words swapped", swapped), (", reversed", key.reversed())] {
            for start in stride(from: 0, through: bytes.count - 8, by: 8) {
                pieces.append(Piece(name: name + form, bytes: Array(bytes[start..<start + 8])))
            }
        }
    }

    /// Text or a value, or any part of it of some length.
    mutating func add(_ bytes: [UInt8], _ name: String, part: Int = 8) {
        let last = bytes.count - part
        // A large value by some of its parts.
        let step = max(part, bytes.count / 256 / part * part)
        for start in Array(stride(from: 0, through: last, by: step)) + (last % step > 0 ? [last] : []) {
            pieces.append(Piece(name: name, bytes: Array(bytes[start..<start + part])))
        }
    }

    /// What was found, each with where; and what was looked at.
    func search(_ process: Int32) throws -> (found: [String], extent: memory_extent) {
        let all = pieces.flatMap(\.bytes)
        var hits = [memory_hit](repeating: memory_hit(), count: 20_000)
        var extent = memory_extent()
        let found = unsafe all.withUnsafeBufferPointer { all in
            var offset = 0
            let sought = unsafe pieces.map { piece in
                defer { offset += piece.bytes.count }
                return unsafe memory_piece(bytes: all.baseAddress! + offset, count: piece.bytes.count)
            }
            return unsafe memory_search(process, sought, sought.count, &hits, hits.count, &extent)
        }
        guard found >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM) }
        var places: [String: (count: Int, first: UInt64)] = [:]
        for hit in hits.prefix(found) {
            let place = unsafe withUnsafeBytes(of: hit.place) { place in
                unsafe String(decoding: place.prefix { $0 != 0 }, as: UTF8.self)
            }
            places["\(pieces[hit.piece].name): \(place)", default: (0, hit.address)].count += 1
        }
        let told = places.map {
            "\($0.key), at \(String($0.value.first, radix: 16)) and so on: \($0.value.count) parts"
        }
        return (told.sorted(), extent)
    }
}
