/// A value that is one byte on disk and a stable word for programs.
package protocol LogWord: RawRepresentable, CaseIterable, Sendable where RawValue == UInt8 {
    /// Its stable word.
    var name: String { get }
}

/// A field of an event: what it is called, and its bytes.
enum LogField {
    /// A byte that stands for a word.
    case coded(String, UInt8, String)
    /// 32 bits.
    case count(String, UInt32)
    /// 64 bits.
    case number(String, UInt64)
    /// Milliseconds since 1970.
    case time(String, Int64)
    /// One byte, 0 or 1.
    case flag(String, Bool)
    /// 32 bytes that name something.
    case digest(String, [UInt8])
    /// 32 bytes that only the verifier reads.
    case hash([UInt8])
    /// The segment before.
    case link(LogLink?)
    /// How many of each, and since when.
    case run(LogRun)
    /// 32 bits that stand for words.
    case rules(String, LogRules)

    static func word(_ name: String, _ word: some LogWord) -> LogField { .coded(name, word.rawValue, word.name) }

    func write(to writer: inout ByteWriter) {
        switch self {
        case .coded(_, let byte, _): writer.integer(byte)
        case .count(_, let count): writer.integer(count)
        case .number(_, let number): writer.integer(number)
        case .time(_, let time): writer.integer(UInt64(bitPattern: time))
        case .flag(_, let flag): writer.integer(UInt8(flag ? 1 : 0))
        case .digest(_, let digest), .hash(let digest):
            writer.append(Array(digest.prefix(32)))
            writer.append([UInt8](repeating: 0, count: max(0, 32 - digest.count)))
        case .link(let link):
            writer.integer(UInt8(link == nil ? 0 : 1))
            writer.append((link?.chain ?? .none).bytes)
            writer.integer(link?.first ?? 0)
        case .run(let run): run.write(to: &writer)
        case .rules(_, let rules): writer.integer(rules.bits)
        }
    }

    /// What it tells programs.
    var details: [SecurityEvent.Detail] {
        func detail(_ name: String, _ value: SecurityEvent.Value) -> [SecurityEvent.Detail] {
            [SecurityEvent.Detail(name: name, value: value)]
        }
        return switch self {
        case .coded(let name, _, let word): detail(name, .text(word))
        case .count(let name, let count): detail(name, .number(UInt64(count)))
        case .number(let name, let number): detail(name, .number(number))
        case .time(let name, let time): detail(name, .time(time))
        case .flag(let name, let flag): detail(name, .flag(flag))
        case .digest(let name, let digest): detail(name, .text(Hexadecimal.encode(digest)))
        case .hash: []
        case .link(let link): link.map { detail("previousFirst", .number($0.first)) } ?? []
        case .run(let run):
            UnprovenEvent.allCases.filter { run[$0] > 0 }.flatMap { kind in
                detail(kind.name + "Count", .number(UInt64(run[kind])))
            } + detail("since", .time(run.since))
        case .rules(let name, let rules): detail(name, .list(rules.rules.map(\.name)))
        }
    }
}

extension ByteReader {
    /// A byte that must stand for a word.
    mutating func word<T: LogWord>() throws(FormatError) -> T {
        guard let word = T(rawValue: try integer(UInt8.self)) else { throw .invalid(field: "log event") }
        return word
    }

    /// A byte, 0 or 1.
    mutating func flag() throws(FormatError) -> Bool {
        let value = try integer(UInt8.self)
        guard value <= 1 else { throw .invalid(field: "log event") }
        return value == 1
    }

    mutating func time() throws(FormatError) -> Int64 { Int64(bitPattern: try integer(UInt64.self)) }

    /// One byte that says whether there is one, then chain and index.
    mutating func logLink() throws(FormatError) -> LogLink? {
        let isPresent = try flag()
        guard let chain = LogChain(bytes: try bytes(16)) else { throw .wrongSize }
        let first = try integer(UInt64.self)
        guard isPresent || chain == .none && first == 0, first < LogFormat.mostEntries else {
            throw .invalid(field: "log link")
        }
        return isPresent ? LogLink(chain: chain, first: first) : nil
    }
}
