internal import BetterAuthMessages
internal import Cryptography

/// What a process that stops leaves to the one after it: challenges that are open, and the replies of sessions.
///
///     format 1 | challenges 4 | replies 4
///     each challenge:  nonce 16 | identity 32 | until 8
///     each reply:  operation 32 | until 8 | identity 32 | device 32 | size 4 | bytes
///     BLAKE3 of all that 32
struct ChallengeHandover {
    private static let format: UInt8 = 2
    /// Bytes of a reply, which has a token and little else.
    private static let largestReply = 2 * MessageLimits.token
    /// Bytes, with every bound reached.
    static let largest =
        41 + ChallengeBook.maximum * 56 + ChallengeBook.maximumReplies * (108 + largestReply)

    let book: ChallengeBook

    init(_ book: ChallengeBook) { self.book = book }

    /// Reads what a process left.
    /// - Returns: Nil unless it is what ``bytes(now:)`` makes. What has expired is left out, and what was made later
    ///   than now: one of the two clocks was wrong, and it would be valid for too long.
    init?(_ bytes: [UInt8], _ lifetimes: Lifetimes, now: Timestamp) {
        let end = bytes.count - 32
        guard bytes.count <= ChallengeHandover.largest, end > 0, bytes.first == ChallengeHandover.format,
            unsafe BLAKE3.hash(bytes.span.bytes.extracting(..<end)).bytes == Array(bytes[end...])
        else { return nil }
        var reader = unsafe RowReader(bytes.span.bytes.extracting(1..<end))
        guard let challenges = reader.number(UInt32.self), challenges <= ChallengeBook.maximum,
            let replies = reader.number(UInt32.self), replies <= ChallengeBook.maximumReplies
        else { return nil }
        var book = ChallengeBook()
        let (latest, latestReply) = (now.adding(seconds: lifetimes.challenge), now.adding(seconds: lifetimes.reply))
        for _ in 0..<challenges {
            guard let nonce = reader.value(NonceText.self), let identity = reader.value(IdentityID.self),
                let until = reader.time()
            else { return nil }
            guard now <= until, until <= latest else { continue }
            book.open(Challenge(nonce: nonce, identity: identity, until: until, moment: now))
        }
        for _ in 0..<replies {
            guard let operation = reader.value(OperationKey.self), let until = reader.time(),
                let identity = reader.value(IdentityID.self), let device = reader.value(DeviceID.self),
                let size = reader.number(UInt32.self), size <= ChallengeHandover.largestReply,
                let message = reader.bytes(Int(size))
            else { return nil }
            guard now <= until, until <= latestReply else { continue }
            let reply = SessionReply(identity: identity, device: device, bytes: message)
            book.keep(reply, of: operation, until: until, now: now)
        }
        guard reader.isAtEnd else { return nil }
        self.init(book)
    }

    func bytes(now: Timestamp) -> [UInt8] {
        let challenges = book.openChallenges(now: now)
        let replies = book.keptReplies(now: now).filter { $0.value.bytes.count <= ChallengeHandover.largestReply }
        var bytes = [ChallengeHandover.format]
        bytes.append(number: UInt32(challenges.count))
        bytes.append(number: UInt32(replies.count))
        for challenge in challenges {
            bytes.append(raw: challenge.key)
            bytes.append(raw: challenge.value)
            bytes.append(number: challenge.until.milliseconds)
        }
        for reply in replies {
            bytes.append(raw: reply.key)
            bytes.append(number: reply.until.milliseconds)
            bytes.append(raw: reply.value.identity)
            bytes.append(raw: reply.value.device)
            bytes.append(number: UInt32(reply.value.bytes.count))
            bytes += reply.value.bytes
        }
        return unsafe bytes + BLAKE3.hash(bytes.span.bytes).bytes
    }
}
