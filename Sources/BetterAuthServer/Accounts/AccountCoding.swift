internal import BetterAuthMessages

/// The row of an account in a store: its length is in its contents, every number is big-endian.
///
///     version 1 (1, or 2 when a device has a void before) | state 1 (0 open, 1 deleted, 2 locked) | void before 8 |
///     [recovery hash 32] | devices 2 | former devices 4 | replies 1 each device:  id 32 | public key 33 | rotation
///     hash 32 | has 1 (1 a reply, 2 void before) | [reply 137] | [void before 8] each former device:  id 32
///     each reply:  operation 32 | response key 33 | signature 64 | until 8
package enum AccountCoding {
    /// Programs that knew no sessions of a single device wrote and read the first one only. What they can read is
    /// written as they did, so that a database has one form of each row.
    static let versions: ClosedRange<UInt8> = 1...2

    private static func version(_ account: Account) -> UInt8 {
        account.devices.contains { $0.voidBefore > .never } ? 2 : 1
    }

    /// The row of an account.
    package static func encode(_ account: Account) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64 + 240 * account.devices.count + 32 * account.former.count)
        bytes.append(version(account))
        bytes.append(account.isDeleted ? 1 : account.isLocked ? 2 : 0)
        bytes.append(number: account.voidBefore.milliseconds)
        if let hash = account.recoveryHash { bytes.append(raw: hash) }
        bytes.append(number: UInt16(clamping: account.devices.count))
        bytes.append(number: UInt32(clamping: account.former.count))
        bytes.append(UInt8(clamping: account.departedReplies.count))
        for device in account.devices {
            bytes.append(raw: device.id)
            bytes.append(raw: device.publicKey)
            bytes.append(raw: device.rotationHash)
            bytes.append((device.reply == nil ? 0 : 1) | (device.voidBefore > .never ? 2 : 0))
            if let reply = device.reply { bytes.append(reply) }
            if device.voidBefore > .never { bytes.append(number: device.voidBefore.milliseconds) }
        }
        for id in account.former { bytes.append(raw: id) }
        for reply in account.departedReplies { bytes.append(reply) }
        return bytes
    }

    /// Reads a row.
    /// - Throws: ``StoreError/damaged`` unless it is exactly what ``encode(_:)`` writes.
    package static func decode(_ bytes: RawSpan) throws(StoreError) -> Account {
        var reader = RowReader(bytes)
        guard let (account, found) = reader.account(), reader.isAtEnd, found == version(account) else { throw .damaged }
        return account
    }
}

extension [UInt8] {
    mutating func append(number: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { unsafe append(contentsOf: $0) }
    }

    mutating func append(raw value: some CESRValue) {
        value.withRawBytes { raw in unsafe raw.withUnsafeBytes { unsafe append(contentsOf: $0) } }
    }

    fileprivate mutating func append(_ reply: CommittedReply) {
        append(raw: reply.operation)
        append(raw: reply.serverIdentity)
        append(raw: reply.signature)
        append(number: reply.until.milliseconds)
    }
}

/// Reads a row from front to back; nil where it ends early or holds what no writer wrote.
struct RowReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: RawSpan) { self.bytes = unsafe bytes.withUnsafeBytes { unsafe Array($0) } }

    var isAtEnd: Bool { position == bytes.count }

    /// The account, and the version that the row says.
    fileprivate mutating func account() -> (Account, version: UInt8)? {
        guard let version = byte(), AccountCoding.versions.contains(version), let standing = byte(), standing <= 2,
            let voidBefore = time()
        else {
            return nil
        }
        var account = Account(recoveryHash: nil, voidBefore: voidBefore, devices: [])
        account.isLocked = standing == 2
        if standing != 1 {
            guard let hash = value(RecoveryHash.self) else { return nil }
            account.recoveryHash = hash
        }
        guard let devices = number(UInt16.self), let former = number(UInt32.self), let replies = byte() else {
            return nil
        }
        for _ in 0..<devices {
            guard let device = device() else { return nil }
            account.devices.append(device)
        }
        for _ in 0..<former {
            guard let id = value(DeviceID.self) else { return nil }
            account.former.append(id)
        }
        for _ in 0..<replies {
            guard let reply = reply() else { return nil }
            account.departedReplies.append(reply)
        }
        return (account, version)
    }

    private mutating func device() -> Account.Device? {
        guard let id = value(DeviceID.self), let key = value(PublicKeyText.self), let hash = value(RotationHash.self),
            let parts = byte(), parts <= 3
        else { return nil }
        var device = Account.Device(id: id, publicKey: key, rotationHash: hash)
        if parts & 1 != 0 {
            guard let reply = reply() else { return nil }
            device.reply = reply
        }
        if parts & 2 != 0 {
            guard let moment = time(), moment > .never else { return nil }
            device.voidBefore = moment
        }
        return device
    }

    private mutating func reply() -> CommittedReply? {
        guard let operation = value(OperationKey.self), let key = value(PublicKeyText.self),
            let signature = value(SignatureText.self), let until = time()
        else { return nil }
        return CommittedReply(operation: operation, serverIdentity: key, signature: signature, until: until)
    }

    mutating func byte() -> UInt8? { number(UInt8.self) }

    mutating func time() -> Timestamp? { number(Int64.self).flatMap { Timestamp(milliseconds: $0) } }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        guard let range = next(MemoryLayout<Number>.size) else { return nil }
        return bytes[range].reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func value<Value: CESRValue>(_ type: Value.Type) -> Value? {
        guard let range = next(Value.rawSize) else { return nil }
        return unsafe Value(raw: bytes.span.bytes.extracting(range))
    }

    /// So many bytes as they stand.
    mutating func bytes(_ count: Int) -> [UInt8]? { next(count).map { Array(bytes[$0]) } }

    private mutating func next(_ count: Int) -> Range<Int>? {
        guard bytes.count - position >= count else { return nil }
        defer { position += count }
        return position..<position + count
    }
}
