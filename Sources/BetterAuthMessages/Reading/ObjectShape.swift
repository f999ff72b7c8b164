/// The members of an object that the protocol defines, in the order in which they stand; the first one always does.
package final class ObjectShape: Sendable {
    /// Where such an object occurs, for errors.
    let place: StaticString
    let names: [StaticString]
    /// What stands before each value: `"device":`, then `,"identity":`.
    let heads: [[UInt8]]

    init(_ place: StaticString, _ names: [StaticString]) {
        self.place = place
        self.names = names
        heads = names.enumerated().map { Array("\($0 == 0 ? "" : ",")\"\($1)\":".utf8) }
    }

    func path(_ index: Int) -> String {
        guard names.indices.contains(index) else { return place.description }
        return place.utf8CodeUnitCount == 0 ? names[index].description : "\(place).\(names[index])"
    }
}

/// How far an object has been read.
package struct ObjectProgress {
    let shape: ObjectShape
    /// The next member.
    var index = 0

    /// The member that was announced last.
    var path: String { shape.path(index - 1) }
}

extension MessageReader {
    /// The opening brace of an object.
    mutating func open(_ shape: ObjectShape, _ place: @autoclosure () -> String? = nil) throws(MessageError)
        -> ObjectProgress
    {
        guard next == UInt8(ascii: "{") else { throw failure(.wrongType, place() ?? shape.place.description) }
        guard depth < MessageLimits.depth else { throw failure(.nestedTooDeep, shape.place.description) }
        position += 1
        depth += 1
        return ObjectProgress(shape: shape)
    }

    /// The name of the next member, up to its value.
    @inline(__always)
    mutating func member(_ object: inout ObjectProgress) throws(MessageError) {
        guard skip(object) else { throw misplaced(object) }
        object.index += 1
    }

    /// The next member when it is there; a member that may be absent.
    mutating func optionalMember(_ object: inout ObjectProgress) -> Bool {
        defer { object.index += 1 }
        return skip(object)
    }

    /// Whether what stands before the next member's value stands here; moves past it then.
    @inline(__always)
    private mutating func skip(_ object: ObjectProgress) -> Bool {
        guard object.index < object.shape.heads.count else { return false }
        let head = object.shape.heads[object.index]
        guard end - position >= head.count else { return false }
        for index in 0..<head.count where bytes[position + index] != head[index] { return false }
        position += head.count
        return true
    }

    /// The closing brace.
    @inline(__always)
    mutating func close(_ object: ObjectProgress) throws(MessageError) {
        guard next == UInt8(ascii: "}") else { throw misplaced(object) }
        position += 1
        depth -= 1
    }

    /// A whole object of values, from its opening to its closing brace.
    @inline(__always)
    mutating func object<each T: MemberValue>(_ shape: ObjectShape) throws(MessageError) -> (repeat each T) {
        var object = try open(shape)
        let values = (repeat try (each T)(reading: &self, &object))
        try close(object)
        return values
    }

    /// The name of the next member, then its value, an object of values.
    @inline(__always)
    mutating func object<each T: MemberValue>(
        _ shape: ObjectShape, in outer: inout ObjectProgress
    ) throws(MessageError) -> (repeat each T) {
        try member(&outer)
        return try object(shape)
    }

    /// Says what stands where a member, or the end of an object, should.
    @inline(never)
    private func misplaced(_ object: ObjectProgress) -> MessageError {
        let shape = object.shape
        let expected = shape.path(object.index)
        var probe = self
        if probe.next == UInt8(ascii: "}") {
            return probe.failure(object.index < shape.names.count ? .missingMember : .unexpectedByte, expected)
        }
        guard object.index == 0 || probe.skip(",") else { return probe.failure(.unexpectedByte, expected) }
        let start = probe.position
        guard probe.next == UInt8(ascii: "\"") else { return probe.failure(.unexpectedByte, expected) }
        let text: [UInt8]
        do throws(MessageError) {
            // A name is the same name however it is escaped.
            text = try probe.unescaped(probe.string(expected))
        } catch {
            return error
        }
        guard probe.position < end else { return probe.failure(.truncated, expected) }
        let known = shape.names.firstIndex { unsafe text.elementsEqual(UnsafeBufferPointer($0)) }
        return switch known {
        case let index? where index < object.index: MessageError(.duplicateMember, shape.path(index), at: start)
        case let index? where index > object.index: MessageError(.missingMember, expected, at: start)
        case _?: MessageError(.unexpectedByte, expected, at: start)
        case nil: MessageError(.unknownMember, shape.place.description, at: start)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The bytes of a literal, which live as long as the program.
    init(_ text: StaticString) {
        unsafe self.init(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }
}
