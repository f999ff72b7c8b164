internal import BetterAuthMessages
package import SecretMemory

// The record of the credentials: a version, then each part behind a byte that says whether it is there. Numbers are big
// endian; texts of CESR stand as their raw values. Docs/identity.md has the table.
extension Credentials {
    static let version: UInt8 = 1
    /// A record is a few kilobytes; more is refused before anything is read.
    static let largestRecord = 1 << 17

    /// The record, in locked memory.
    /// - Throws: ``SecretMemory/SecretMemoryError``; ``IdentityError/Code/tooLarge``.
    package func encoded() throws -> SecretBytes {
        var size = RecordSize()
        write(to: &size)
        guard size.count <= Credentials.largestRecord else {
            throw IdentityError(.tooLarge, "the credentials do not fit into their record")
        }
        var writer = RecordWriter(try SecretBytes(zeroed: size.count))
        write(to: &writer)
        return writer.finish()
    }

    private func write(to output: inout some RecordOutput & ~Copyable) {
        output.byte(Credentials.version)
        output.optional(account) { $0.write(to: &$1) }
        output.optional(staged) {
            $1.byte($0.kind.rawValue)
            $0.account.write(to: &$1)
            $1.counted($0.message)
        }
        output.optional(pending) {
            $0.future.write(to: &$1)
            $1.list($0.requests) {
                $0.effect.write(to: &$1)
                $1.counted($0.message)
            }
        }
        output.optional(session) {
            $1.counted($0.token.bytes)
            $0.current.write(to: &$1)
            $0.next.write(to: &$1)
            $1.time($0.expiry)
            $1.time($0.refreshExpiry)
        }
        output.list(firstKeys) {
            $1.counted(Array($0.server.utf8))
            $1.text($0.key)
        }
        output.optional(keyChain) {
            $1.text($0.identity)
            $1.counted(Array($0.service.utf8))
        }
        output.optional(server) { $1.counted(Array($0.utf8)) }
        drills.write(to: &output)
    }

    /// Reads a record.
    /// - Throws: ``IdentityError/Code/damaged`` for what this program did not write,
    ///   ``IdentityError/Code/newerVersion``, ``SecretMemory/SecretMemoryError``.
    package init(parsing bytes: RawSpan) throws {
        guard bytes.byteCount <= Credentials.largestRecord else { throw RecordReader.damaged }
        let reader = try RecordReader(bytes)
        let version = try reader.byte()
        guard version <= Credentials.version else {
            throw IdentityError(.newerVersion, "the identity was stored by a newer Holdfast")
        }
        guard version == Credentials.version else { throw RecordReader.damaged }
        self.init()
        account = try reader.optional { try Account($0) }
        staged = try reader.optional {
            guard let kind = StagedAccount.Kind(rawValue: try $0.byte()) else { throw RecordReader.damaged }
            return try StagedAccount(kind: kind, account: Account($0), message: $0.counted())
        }
        pending = try reader.optional {
            let future = try KeyRecord($0)
            let requests = try $0.list(atMost: UInt8(PendingRotation.mostRequests)) {
                try PendingRotation.Request(effect: RotationEffect($0), message: $0.counted())
            }
            guard !requests.isEmpty else { throw RecordReader.damaged }
            return PendingRotation(future: future, requests: requests)
        }
        session = try reader.optional {
            try Session(
                token: $0.token(), current: KeyRecord($0), next: KeyRecord($0), expiry: $0.time(),
                refreshExpiry: $0.time())
        }
        firstKeys = try reader.list(atMost: 255) {
            try FirstKey(server: String(decoding: $0.counted(), as: UTF8.self), key: $0.text())
        }
        keyChain = try reader.optional {
            try TrustedKeyChain(identity: $0.text(), service: String(decoding: $0.counted(), as: UTF8.self))
        }
        server = try reader.optional { String(decoding: try $0.counted(), as: UTF8.self) }
        drills = try DrillState(reader)
        guard reader.isAtEnd, pending == nil || account != nil, session == nil || account != nil else {
            throw RecordReader.damaged
        }
    }
}

extension Account {
    fileprivate func write(to output: inout some RecordOutput & ~Copyable) {
        output.text(identity)
        output.text(device)
        current.write(to: &output)
        next.write(to: &output)
        output.list(recoveryHashes) { $1.text($0) }
    }

    fileprivate init(_ reader: RecordReader) throws {
        identity = try reader.text()
        device = try reader.text()
        current = try KeyRecord(reader)
        next = try KeyRecord(reader)
        recoveryHashes = try reader.list(atMost: UInt8(Account.mostRecoveryHashes)) { try $0.text() }
    }
}

extension KeyRecord {
    fileprivate func write(to output: inout some RecordOutput & ~Copyable) {
        output.text(publicKey)
        output.byte(place.rawValue)
        output.counted(handle)
        withSecret { output.counted(secret: $0) }
    }

    fileprivate convenience init(_ reader: RecordReader) throws {
        let publicKey: PublicKeyText = try reader.text()
        guard let place = Place(rawValue: try reader.byte()) else { throw RecordReader.damaged }
        let handle = try reader.counted()
        self.init(publicKey: publicKey, place: place, handle: handle, secret: try reader.secret())
    }
}

extension RotationEffect {
    fileprivate func write(to output: inout some RecordOutput & ~Copyable) {
        switch self {
        case .rotate: output.byte(1)
        case .link(let device):
            output.byte(2)
            output.text(device)
        case .unlink(let device):
            output.byte(3)
            output.text(device)
        case .leave: output.byte(4)
        case .changeRecovery(let hash):
            output.byte(5)
            output.text(hash)
        case .delete: output.byte(6)
        }
    }

    fileprivate init(_ reader: RecordReader) throws {
        switch try reader.byte() {
        case 1: self = .rotate
        case 2: self = .link(try reader.text())
        case 3: self = .unlink(try reader.text())
        case 4: self = .leave
        case 5: self = .changeRecovery(try reader.text())
        case 6: self = .delete
        default: throw RecordReader.damaged
        }
    }
}

extension DrillState {
    fileprivate func write(to output: inout some RecordOutput & ~Copyable) {
        output.optional(lastPassed) { $1.time($0) }
        output.optional(since) { $1.time($0) }
        output.integer(UInt64(passes))
        output.list(spots) {
            $1.counted($0.positions)
            $1.counted($0.salt)
            $1.counted($0.digest)
        }
    }

    fileprivate init(_ reader: RecordReader) throws {
        lastPassed = try reader.optional { try $0.time() }
        since = try reader.optional { try $0.time() }
        passes = UInt32(clamping: try reader.integer())
        spots = try reader.list(atMost: 8) {
            try SpotCheck(positions: $0.counted(), salt: $0.counted(), digest: $0.counted())
        }
    }
}
