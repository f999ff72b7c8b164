internal import AgentMessages
internal import SecretMemory
internal import SystemCalls
internal import VaultCore
internal import VaultStorage

/// A message on its way out, in locked memory and wiped when it has gone.
final class Packet: @unchecked Sendable {  // handed from one thread to another, used by one at a time
    private let bytes: SecretBytes
    private(set) var sent = 0
    /// Whether it contains vault data, which a lock drops.
    let isOfVault: Bool

    /// - Throws: `outOfMemory`.
    init(_ head: [UInt8], payload: RawSpan = RawSpan(), isOfVault: Bool = false) throws(VaultError) {
        let count = head.count
        self.isOfVault = isOfVault || payload.byteCount > 0
        do throws(SecretMemoryError) {
            bytes = try SecretBytes(count: count + payload.byteCount) { bytes in
                for (offset, byte) in head.enumerated() {
                    bytes.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
                }
                bytes.withPart(count..<bytes.byteCount) { part in
                    unsafe part.withUnsafeMutableBytes { part in
                        unsafe payload.withUnsafeBytes { unsafe part.copyMemory(from: $0) }
                    }
                }
            }
        } catch { throw VaultError(error) }
    }

    convenience init(_ reply: Reply) throws(VaultError) {
        try self.init(reply.head(), isOfVault: Packet.ofVault.contains(reply.kind))
    }

    /// Answers that tell of what is in the vault, even without a value.
    private static let ofVault: Set<Reply.Kind> = [
        .records, .identity, .item, .trash, .texts, .inbox, .logEntries, .logFindings, .verification, .sync,
    ]

    /// Sends what it can.
    /// - Returns: True when all of it has gone, nil when the other side has.
    func send(to socket: Int32) -> Bool? {
        while sent < bytes.count {
            let outcome = bytes.withBytes { LocalSocket.send(socket, $0.extracting(sent..<bytes.count)) }
            switch outcome {
            case .moved(let count): sent += count
            case .wouldBlock, .noMemory: return false
            case .ended: return nil
            }
        }
        return true
    }
}

/// The body of a message that came in, shared with the thread that works on it.
final class Body: Sendable {
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}
