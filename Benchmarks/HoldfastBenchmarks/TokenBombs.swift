import BetterAuthVerification
import BetterAuthMessages
import CRawLoops
import Foundation

/// Access tokens that want to become large: how long refusing them takes, and how much memory.
struct TokenBombs: Suite {
    static let figures = ["token-bomb-time", "token-bomb-memory"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        // From just over what a token may hold, over the largest that still travels as a token, to one that does not.
        let sizes = [MessageLimits.claims + 1, 1 << 20, 2 << 20, 64 << 20]
        let bombs = try sizes.flatMap { size in try [false, true].map { try Bomb(size, lies: $0) } }
        let rounds = try Rounds(
            bench.options.count(101, quick: 21),
            bombs.map { bomb in { _ in try time { for _ in 0..<10 { try bomb.explode() } } / 10 } })
        let slowest = bombs.indices.max { rounds.median($0) < rounds.median($1) } ?? 0
        let text = bombs[slowest].base64
        let raw = try Rounds(
            bench.options.count(101, quick: 21),
            [
                { _ in
                    let taken = time {
                        for _ in 0..<10 {
                            keep(UInt64(bitPattern: Int64(unsafe raw_inflate(text, text.count, MessageLimits.claims))))
                        }
                    }
                    return taken / 10
                }
            ]
        ).median(0)
        return [
            Figure(
                name: "token-bomb-time", value: rounds.median(slowest) / raw, unit: "x",
                absolute: .init(rounds.median(slowest) / 1000, "us"), bound: .atMost(2),
                detail:
                    "the slowest to be refused: \(bombs[slowest].size) bytes in \(text.count) characters; base64 and "
                    + "zlib up to a token's limit take \(number(raw / 1000)) us"),
            Figure(
                name: "token-bomb-memory", value: try memory(bombs), unit: "MB", bound: .atMost(1),
                detail: "what refusing \(bombs.count) of them, up to 64 MiB, adds to the process at its peak"),
        ]
    }

    /// What the process grows by at most, in MB.
    private static func memory(_ bombs: [Bomb]) throws -> Double {
        let before = try Memory.restart()
        for bomb in bombs { try bomb.explode() }
        return max(0, try Memory.peak() - before)
    }

    private struct Bomb {
        let size: Int
        let text: [UInt8]
        /// What is compressed alone, as base64 of the usual alphabet.
        let base64: [UInt8]

        /// - Parameter lies: Whether it says of itself that it is small.
        init(_ size: Int, lies: Bool) throws {
            self.size = size
            let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: size)
            var member = try unsafe ZlibTokenCompression().deflate(zeros.span.bytes)
            if lies { member.replaceSubrange((member.count - 4)..., with: [1, 0, 0, 0]) }
            let signature = "0IA4UTM8hskrY42wR1BiDhpxJoHNC9WoAwSt9LE4x5Hzl0eTluD7O8rPnuY-iNN3Sv3Ms5ZoZH_eosTqAl6DMtXU"
            let plain = Data(member).base64EncodedString()
            base64 = Array(plain.utf8)
            let body = plain.replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
            text = Array((signature + body).utf8)
        }

        func explode() throws {
            do throws(MessageError) {
                _ = try unsafe AccessToken(opening: TokenText(parsing: text.span.bytes), with: ZlibTokenCompression())
            } catch {
                guard error.reason == .tokenTooLarge else { throw BenchmarkError("a bomb was refused as \(error)") }
                return
            }
            throw BenchmarkError("a bomb was taken")
        }
    }
}
