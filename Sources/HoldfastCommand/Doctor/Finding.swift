internal import Holdfast

/// What the doctor says of one part of the machine.
struct Finding: Sendable {
    /// How a part is.
    enum State: String, Sendable, Hashable {
        /// It works; with `--deep` it was made to work just now.
        case good
        /// It is there and could be used, once the owner has done something.
        case unready
        /// Not there. Nothing is wrong, there is only less.
        case missing
        /// It is there and does not do what it should.
        case broken
        /// It gave no answer in time.
        case slow

        /// For people, in a column.
        var words: String {
            switch self {
            case .good: "ok"
            case .unready: "not ready"
            case .missing: "missing"
            case .broken: "broken"
            case .slow: "no answer"
            }
        }
    }

    /// A stable word.
    let part: String
    let state: State
    /// What it proves or protects where it is used; nil for parts that prove nothing.
    var assurance: Assurance?
    /// What was found.
    let words: String
    /// What to do about it; nil where there is nothing to do.
    var fix: String?

    var json: JSON {
        .object([
            "part": .text(part), "state": .text(state.rawValue),
            "assurance": assurance.map { .text($0.name) } ?? .null, "words": .text(words),
            "fix": fix.map { .text($0) } ?? .null,
        ])
    }
}
