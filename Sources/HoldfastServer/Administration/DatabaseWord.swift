internal import BetterAuthServer

/// What shows that two servers have one database, and not two with one name or one content: one of them leaves a word
/// in it, and the other one finds it there.
struct DatabaseWord: Equatable {
    static let found = #"{"serves":true}"#
    static let notFound = #"{"serves":false}"#
    private static let beginning = "serves "

    private let text: String

    /// What to ask the other one.
    var question: String { Self.beginning + text }

    /// - Returns: False where no other process can have the database.
    static func leave(in store: any ServerStore) throws(StoreError) -> Bool {
        try store.leave(word: Array(String(UInt64.random(in: 1 << 60 ... .max), radix: 16).utf8))
    }

    /// The word that was left last, by whatever server; nil for none.
    static func last(in store: any ServerStore) throws(StoreError) -> DatabaseWord? {
        try store.word().map { DatabaseWord(text: String(decoding: $0, as: UTF8.self)) }
    }

    /// The other one's answer; nil to another question.
    static func answer(to line: String, _ store: any ServerStore) -> String? {
        guard line.hasPrefix(beginning) else { return nil }
        // A store that cannot be read has not been found to be the same.
        guard let word = try? store.word() else { return notFound }
        return word == Array(line.utf8.dropFirst(beginning.utf8.count)) ? found : notFound
    }
}
