/// The signed part of one kind of message.
package protocol MessagePayload: Sendable, Hashable {
    /// The member that holds the payload, and the signature after it.
    static var envelope: ObjectShape { get }
    /// Reads the payload from its opening to its closing brace.
    init(reading reader: inout MessageReader) throws(MessageError)
    /// Writes the payload's one spelling.
    func write(to writer: inout MessageWriter)
}

extension MessagePayload {
    package static var envelope: ObjectShape { Envelope.shape }

    /// The payload's one spelling: what is to be signed.
    package var encoded: [UInt8] {
        var writer = MessageWriter()
        write(to: &writer)
        return writer.bytes
    }
}
