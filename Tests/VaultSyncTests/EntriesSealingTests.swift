import Cryptography
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultFormat

@testable import VaultSync

@Suite struct EntriesSealingTests {
    private let stream: StreamID = id(2)

    @Test func `an entry is sealed in the smallest size and opens once it is verified`() throws {
        let pair = try Pair()
        for (size, sealed) in [(1, 1024), (1000, 2048), (4000, 8192), (32_000, 32_768)] {
            let change = pattern(size)
            let entry = try pair.entry([change, [7]])
            #expect(entry.bytes.count == sealed)
            let verified = try #require(try pair.verified(entry.bytes, StreamReader(stream)))
            #expect(verified.member == pair.laptop.id && verified.head == entry.head)
            let opened = try verified.open(with: pair.key)
            let (count, member) = (opened.count, opened.contents.member)
            let read = (0..<count).map { opened.withChange($0) { $0.array } }
            #expect(count == 2 && member == pair.laptop.id && read == [change, [7]])
        }
    }

    @Test func `every entry has a key of its own`() throws {
        let pair = try Pair()
        let (first, second) = (try pair.entry([[1]]), try pair.entry([[1]]))
        #expect(first.bytes[128..<900] != second.bytes[128..<900])
        #expect(first.head.hash != second.head.hash)
    }

    @Test func `a flipped bit anywhere is refused before anything is decrypted`() throws {
        let pair = try Pair()
        let entry = try pair.entry([Array("a change".utf8)])
        for bit in bits(entry.bytes) {
            let bytes = entry.bytes.flipped(bit)
            let error = syncError { () throws(SyncError) in
                _ = try ReceivedEntry(parsing: bytes).signed(by: pair.signers)
            }
            if case .format = error { continue }
            #expect(error == .notAuthentic("entry signature"), "bit \(bit)")
        }
    }

    @Test func `the same signature in its other form is refused`() throws {
        let pair = try Pair()
        let entry = try pair.entry([[1]])
        let high = try highForm(of: Array(entry.bytes.suffix(64)))
        #expect(high != Array(entry.bytes.suffix(64)))
        // It is valid: were it taken, anybody could make a second entry, and so a fork.
        let signed = entry.bytes.dropLast(64)
        let message = Array("holdfast/1/sync-entry\n".utf8) + Array(signed).lend { BLAKE3.hash($0).bytes }
        let record = try pair.laptop.record(name: "laptop")
        let key = try record.signingKey.lend { try P256PublicKey(compressed: $0) }
        #expect(message.lend { message in high.lend { key.isValid(signature: $0, for: message) } })
        let error = syncError { () throws(SyncError) in
            _ = try ReceivedEntry(parsing: signed + high).signed(by: pair.signers)
        }
        #expect(error == .notAuthentic("entry signature"))
    }

    /// n - s, computed otherwise than in the code under test: s + t = n, digit by digit from the end.
    private func highForm(of signature: [UInt8]) throws -> [UInt8] {
        let order = hexBytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        var (result, carry) = (repeated(0, 32), 0)
        for index in (0..<32).reversed() {
            let sum = Int(signature[32 + index]) + carry
            result[index] = UInt8((Int(order[index]) - sum) & 0xFF)
            carry = sum > Int(order[index]) ? 1 : 0
        }
        return signature.prefix(32) + result
    }

    @Test func `a low signature is the lower of two`() {
        let order = hexBytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let half = hexBytes("7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8")
        let r = repeated(9, 32)
        #expect(LowSignature.isLow(r + half))
        var above = half
        above[31] += 1
        #expect(!LowSignature.isLow(r + above) && LowSignature.low(r + above) == r + half)
        #expect(LowSignature.low(r + half) == r + half)
        #expect(!LowSignature.isLow(r + order) && !LowSignature.isLow(r + repeated(0xFF, 32)))
        #expect(!LowSignature.isLow(r) && !LowSignature.isLow([]))
    }

    @Test func `only members' entries count, and a known stream has one member`() throws {
        let pair = try Pair()
        let other = try Pair()
        let entry = try pair.entry([[1]])
        let received = try ReceivedEntry(parsing: entry.bytes)
        #expect(throws: SyncError.notAuthentic("entry signature")) { try received.signed(by: other.signers) }
        #expect(throws: SyncError.notAuthentic("entry signature")) {
            try received.signed(by: pair.signers, pair.phone.id)
        }
        #expect(try received.signed(by: pair.signers, pair.laptop.id).member == pair.laptop.id)
    }

    @Test func `entry 1 names the member that signed it`() throws {
        let pair = try Pair()
        var contents = EntryContents(time: 1)
        contents.member = pair.phone.id
        let draft = EntryDraft(contents)
        let front = try EntryFront.fresh(.changes, stream, roster: pair.first.roster, after: nil)
        let error = syncError { () throws(SyncError) in _ = try draft.seal(front, with: pair.key, by: pair.laptop) }
        #expect(error == .notAuthentic("entry member"))
        // Written by something else than this code.
        var plaintext = try SecretBytes(zeroed: 1024 - EntrySize.overhead)
        let named = pair.phone.id.bytes
        plaintext.withMutableBytes { bytes in named.withRaw { bytes.store(copying: $0, at: 0) } }
        let forged = try plaintext.withBytes { plaintext in
            try Envelope(sealing: plaintext, front, under: pair.key.bytes, by: pair.laptop)
        }
        let verified = try #require(try pair.verified(forged.bytes, StreamReader(stream)))
        #expect(
            syncError { () throws(SyncError) in _ = try verified.open(with: pair.key) }
                == .notAuthentic("entry member"))
    }

    @Test func `another epoch's key opens nothing`() throws {
        let pair = try Pair()
        let verified = try #require(try pair.verified(pair.entry([[1]]).bytes, StreamReader(stream)))
        let other = try EpochKey.generate()
        #expect(syncError { () throws(SyncError) in _ = try verified.open(with: other) } == .notAuthentic("entry"))
    }

    @Test func `what a member signs and no writer writes is an error of the format`() throws {
        let pair = try Pair()
        let front = try EntryFront.fresh(.changes, stream, roster: pair.first.roster, after: nil)
        var plaintext = try SecretBytes(zeroed: 1024 - EntrySize.overhead)
        let named = pair.laptop.id.bytes
        plaintext.withMutableBytes { bytes in
            named.withRaw { bytes.store(copying: $0, at: 0) }
            bytes.store(UInt8(1), at: bytes.byteCount - 1)
        }
        let forged = try plaintext.withBytes { plaintext in
            try Envelope(sealing: plaintext, front, under: pair.key.bytes, by: pair.laptop)
        }
        let verified = try #require(try pair.verified(forged.bytes, StreamReader(stream)))
        let error = syncError { () throws(SyncError) in _ = try verified.open(with: pair.key) }
        #expect(error == .format(.invalid(field: "entry padding")))
    }

    @Test func `a stream is followed, and its forks, gaps and repeats are told`() throws {
        let pair = try Pair()
        let first = try pair.entry([[1]])
        let second = try pair.entry([[2]], after: first.head)
        let third = try pair.entry([[3]], after: second.head)
        let other = try pair.entry([[4]], after: first.head)
        var reader = StreamReader(stream)
        func judge(_ entry: SealedEntry) throws -> EntryVerdict {
            try ReceivedEntry(parsing: entry.bytes).signed(by: pair.signers).judged(by: reader)
        }
        guard case .gap(missing: 1) = try judge(second) else { return #expect(Bool(false), "no gap") }
        for entry in [first, second] {
            guard case .next(let verified) = try judge(entry) else { return #expect(Bool(false), "not next") }
            let front = verified.front
            let isTaken = reader.take(number: front.number, before: front.before, hash: verified.head.hash)
            #expect(isTaken)
        }
        guard case .known = try judge(first) else { return #expect(Bool(false), "not known") }
        guard case .fork(at: 2, let evidence) = try judge(other) else { return #expect(Bool(false), "no fork") }
        #expect(evidence.bytes == other.bytes && evidence.member == pair.laptop.id)
        reader.freeze(before: 2)
        guard case .behind(last: 1) = try judge(third) else { return #expect(Bool(false), "not behind") }
    }

    @Test func `parts of a snapshot are verified before it is known what they follow`() throws {
        let pair = try Pair()
        let first = try pair.entry([[1]])
        var contents = EntryContents(time: 2)
        contents.snapshot = SnapshotPart(first: 2, isFull: true, isLast: false)
        let part = try pair.entry([[2]], after: first.head, contents: contents)
        let next = try pair.entry([[3]], after: part.head, contents: contents)
        let received = try ReceivedEntry(parsing: part.bytes)
        var run = SnapshotRun(stream, first: 2, before: received.front.before)
        func judge(_ entry: SealedEntry) throws -> EntryVerdict {
            try ReceivedEntry(parsing: entry.bytes).signed(by: pair.signers).judged(by: run)
        }
        guard case .gap(missing: 2) = try judge(next) else { return #expect(Bool(false), "no gap") }
        guard case .next(let verified) = try judge(part) else { return #expect(Bool(false), "not next") }
        #expect(try verified.open(with: pair.key).contents.snapshot == contents.snapshot)
        let isTaken = run.take(number: 2, before: first.head.hash, hash: part.head.hash)
        #expect(isTaken && run.next == 3)
        guard case .known = try judge(part) else { return #expect(Bool(false), "not known") }
        guard case .next = try judge(next) else { return #expect(Bool(false), "not next") }
        guard case .gap = try judge(pair.entry([[9]], after: part.head)) else {
            return #expect(Bool(false), "changes in a snapshot")
        }
    }

    @Test func `who was away takes a snapshot up, whose entries before it are gone`() throws {
        let pair = try Pair()
        let pieceKey = try pair.key.pieceKey(pair.group)
        var entries = [try pair.entry([[0]])]
        for number in 1..<4 { entries.append(try pair.entry([[UInt8(number)]], after: entries[number - 1].head)) }
        // The writer's last part lists the hashes of 1 to 4.
        let marks = EntryMark.bytes(entries.map { EntryMark.mark($0.head.hash) })
        let sealed = try marks.withRaw { try pieceKey.seal($0).bytes }
        var contents = EntryContents(time: 5)
        contents.snapshot = SnapshotPart(first: 5, isFull: true, isLast: true)
        var draft = EntryDraft(contents, hashList: try marks.withRaw { try pieceKey.list(of: $0) })
        let isAdded = try [9].withRaw { change throws(SyncError) in try draft.add(change) }
        let front = try EntryFront.fresh(
            .snapshot, stream, roster: pair.first.roster, after: entries[3].head)
        let snapshot = try draft.seal(front, with: pair.key, by: pair.laptop)
        // The reader has entry 1 alone.
        var reader = StreamReader(stream)
        let first = try ReceivedEntry(parsing: entries[0].bytes).front
        let isTaken = reader.take(number: 1, before: first.before, hash: entries[0].head.hash)
        let signed = try ReceivedEntry(parsing: snapshot.bytes).signed(by: pair.signers, pair.laptop.id)
        guard case .gap(missing: 2) = signed.judged(by: reader) else { return #expect(Bool(false), "no gap") }
        let run = SnapshotRun(stream, first: 5, before: signed.front.before)
        guard case .next(let verified) = signed.judged(by: run) else { return #expect(Bool(false), "not next") }
        let opened = try verified.open(with: pair.key)
        var assembly = try opened.withHashList { list throws(SyncError) in
            try PieceAssembly(list, limit: SyncLimits.entries * 8)
        }
        try assembly.add(sealed)
        let listed = try assembly.finish().withBytes { try EntryMark.marks(in: $0) }
        let step = reader.resume(marks: listed, before: run.before)
        let isNext = reader.take(number: 5, before: run.before, hash: verified.head.hash)
        #expect(isAdded && isTaken && step == .next && isNext && reader.head == snapshot.head)
    }

    @Test func `a draft says when it is full`() throws {
        var draft = EntryDraft(EntryContents(time: 1))
        let change = pattern(20_000)
        let results = try [change, change, [1]].map { change in
            try change.withRaw { bytes throws(SyncError) in try draft.add(bytes) }
        }
        #expect(results == [true, false, true])
        let error = syncError { () throws(SyncError) in _ = try draft.add(RawSpan()) }
        #expect(error == .format(.invalid(field: "entry changes")))
    }

    @Test func `garbage is no entry`() throws {
        let pair = try Pair()
        for size in [0, 1, 127, 128, 1023, 1024, 1025, 2048, 4096, 32_768, 65_536] {
            for seed in 0..<20 {
                let bytes = pattern(size, seed: UInt8(seed))
                let error = syncError { () throws(SyncError) in
                    _ = try ReceivedEntry(parsing: bytes).signed(by: pair.signers)
                }
                #expect(error == .format(EntrySize.allowed.contains(size) ? .wrongMagic : .wrongSize))
            }
        }
    }
}
