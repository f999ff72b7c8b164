/// What names a request in logs, here and at the services that it is passed on to.
package struct RequestTrace: Sendable, Hashable {
    /// The value of `X-Request-Id`.
    package let id: String
    /// The value of `traceparent` of W3C Trace Context, as a proxy sent it; nil for none.
    package let parent: String?
    /// The value of `tracestate` beside it, which is passed on; nil for none.
    package let state: String?

    /// Of the request that is being answered, for log lines and for requests that it causes.
    @TaskLocal package static var current: RequestTrace?

    static let longestID = 128
    /// What W3C Trace Context asks for at least, for the whole list.
    private static let longestState = 512

    /// A name that nobody has chosen: 32 random hexadecimal digits.
    package static func fresh() -> RequestTrace { RequestTrace(id: randomID(), parent: nil, state: nil) }

    private init(id: String, parent: String?, state: String?) {
        self.id = id
        self.parent = parent
        self.state = state
    }

    /// What a request brings. Only a trusted proxy is believed; what it sends must have the right form, and stand there
    /// once. Otherwise the request gets a new name, and no trace.
    init(_ headers: Headers, isTrusted: Bool) {
        guard isTrusted else {
            self = .fresh()
            return
        }
        let given = headers.ids == 1 ? headers.id.flatMap { RequestTrace.isID($0) ? $0 : nil } : nil
        parent = headers.parents == 1 ? headers.parent.flatMap { RequestTrace.isParent($0) ? $0 : nil } : nil
        // Without its parent it says nothing.
        state = parent == nil ? nil : headers.state.flatMap { RequestTrace.isState($0) ? $0 : nil }
        id = given ?? RequestTrace.randomID()
    }

    /// The headers of a request that name it, as they came.
    struct Headers {
        fileprivate var id: String?
        fileprivate var ids = 0
        fileprivate var parent: String?
        fileprivate var parents = 0
        fileprivate var state: String?

        /// Several lines are one list (RFC 9110, section 5.3).
        mutating func readState(_ value: UnsafeRawBufferPointer) {
            // Beyond its limit it stays too long, whatever comes.
            let text = unsafe String(decoding: value.prefix(longestState + 1), as: UTF8.self)
            guard (state?.utf8.count ?? 0) <= longestState else { return }
            state = state.map { $0 + "," + text } ?? text
        }

        mutating func readID(_ value: UnsafeRawBufferPointer) {
            ids += 1
            id = unsafe RequestTrace.text(value)
        }

        mutating func readParent(_ value: UnsafeRawBufferPointer) {
            parents += 1
            parent = unsafe RequestTrace.text(value)
        }
    }

    /// Nil for what is too long to be a name.
    @unsafe private static func text(_ value: UnsafeRawBufferPointer) -> String? {
        value.count > longestID ? nil : unsafe String(decoding: value, as: UTF8.self)
    }

    /// Letters, digits and `-._:`, which need no quoting anywhere: up to 128.
    private static func isID(_ text: String) -> Bool {
        (1...longestID).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
                    || byte == UInt8(ascii: ":")
            }
    }

    /// Version 00, the only one that there is: `00-` trace, parent and flags in lower hexadecimal digits; neither trace
    /// nor parent is zero.
    private static func isParent(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [2, 32, 16, 2], parts[0].elementsEqual("00".utf8) else { return false }
        let areDigits = parts.allSatisfy {
            $0.allSatisfy { $0 &- UInt8(ascii: "0") < 10 || $0 &- UInt8(ascii: "a") < 6 }
        }
        return areDigits && parts[1...2].allSatisfy { !$0.allSatisfy { $0 == UInt8(ascii: "0") } }
    }

    /// Members of a list with keys and values, of visible characters and spaces: nothing else can hide in a header's
    /// line.
    private static func isState(_ text: String) -> Bool {
        (1...longestState).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
            && text.split(separator: ",").allSatisfy { $0.contains("=") }
    }

    private static func randomID() -> String {
        let words = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
        return unsafe String(unsafeUninitializedCapacity: 32) { buffer in
            for index in 0..<32 {
                let word = index < 16 ? words.0 : words.1
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (index & 15))) & 15
                unsafe buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return 32
        }
    }

    /// The lines of a request's head that pass the name on.
    package var headerLines: String {
        "X-Request-Id: \(id)\r\n" + (parent.map { "traceparent: \($0)\r\n" } ?? "")
            + (state.map { "tracestate: \($0)\r\n" } ?? "")
    }
}

/// A request that was answered: what logs and metrics say about it.
package struct AnsweredRequest: Sendable {
    /// The client's.
    package let address: ClientAddress
    package let trace: RequestTrace
    /// Microseconds since the first lines were there.
    package let duration: Int
}
