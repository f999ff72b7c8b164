/// One measured figure and the bound it is held against.
///
/// A bound is a ratio within one run, a size, or a count: it says the same on a slow machine and on a fast one. What is
/// a time stands beside it, without a bound.
struct Figure {
    enum Bound {
        case none
        case atMost(Double)
        case atLeast(Double)
    }

    /// A time or a rate: of this machine, at this time.
    struct Absolute {
        let value: Double
        let unit: String

        init(_ value: Double, _ unit: String) {
            self.value = value
            self.unit = unit
        }

        var text: String { "\(number(value)) \(unit)" }
    }

    let name: String
    let value: Double
    let unit: String
    let absolute: Absolute?
    let bound: Bound
    /// What the value was made of, for the reader of the line.
    let detail: String
    /// Whether the machine was busy with something else meanwhile.
    var isNoisy = false
    /// The values of all runs, where there were several.
    var runs: [Double] = []

    init(name: String, value: Double, unit: String, absolute: Absolute? = nil, bound: Bound, detail: String) {
        self.name = name
        self.value = value
        self.unit = unit
        self.absolute = absolute
        self.bound = bound
        self.detail = detail
    }

    /// A time without a bound.
    init(name: String, absolute: Absolute, detail: String) {
        self.init(name: name, value: absolute.value, unit: absolute.unit, bound: .none, detail: detail)
    }

    /// Nil where there is nothing to hold.
    var holds: Bool? {
        switch bound {
        case .none: nil
        case .atMost(let limit): value <= limit
        case .atLeast(let limit): value >= limit
        }
    }

    private var sign: String {
        switch bound {
        case .none: "  "
        case .atMost: "<="
        case .atLeast: ">="
        }
    }

    private var limit: Double? {
        switch bound {
        case .none: nil
        case .atMost(let limit), .atLeast(let limit): limit
        }
    }

    var line: String {
        let verdict = holds.map { $0 ? "holds " : "MISSED" } ?? "      "
        let spread =
            runs.count > 1 ? "\(number(runs.min() ?? 0)) to \(number(runs.max() ?? 0)) in \(runs.count) runs; " : ""
        let columns = [
            pad(name, 26), pad(number(value), 8, left: true), pad(unit, 5), sign, pad(limit.map(number) ?? "", 6),
            verdict,
            isNoisy ? "~" : " ", spread + (absolute.map { $0.text + (detail.isEmpty ? "" : "; ") } ?? "") + detail,
        ]
        return columns.joined(separator: " ")
    }

    var json: String {
        var fields = ["\"name\": \(quoted(name))", "\"value\": \(precise(value))", "\"unit\": \(quoted(unit))"]
        if let absolute {
            fields += ["\"absolute\": \(precise(absolute.value))", "\"absoluteUnit\": \(quoted(absolute.unit))"]
        }
        if let limit, let holds {
            fields += ["\"bound\": \(precise(limit))", "\"sign\": \(quoted(sign))", "\"holds\": \(holds)"]
        }
        fields.append("\"noisy\": \(isNoisy)")
        if runs.count > 1 { fields.append("\"runs\": [\(runs.map(precise).joined(separator: ", "))]") }
        fields.append("\"detail\": \(quoted(detail))")
        return "{" + fields.joined(separator: ", ") + "}"
    }

    /// The figure of the run in the middle, with the values of all. It is noisy if most were.
    static func median(of runs: [Figure]) -> Figure? {
        let sorted = runs.sorted { $0.value < $1.value }
        guard var middle = sorted.isEmpty ? nil : sorted[(sorted.count - 1) / 2] else { return nil }
        middle.runs = runs.map(\.value)
        middle.isNoisy = 2 * runs.count(where: \.isNoisy) > runs.count
        return middle
    }
}

/// Two or three significant digits, never an exponent.
func number(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    let places = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : 2
    return decimal(value, [1, 10, 100][places], places)
}

/// Four places, for another program.
private func precise(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    return decimal(value, 10_000, 4)
}

private func decimal(_ value: Double, _ scale: Int, _ places: Int) -> String {
    let scaled = Int((abs(value) * Double(scale)).rounded())
    var text = String(scaled / scale)
    if places > 0 {
        let fraction = String(scaled % scale)
        text += "." + String(repeating: "0", count: places - fraction.count) + fraction
    }
    return value < 0 && scaled != 0 ? "-" + text : text
}

/// A string of JSON. Control characters are in no text of ours.
func quoted(_ text: String) -> String {
    var quoted = "\""
    for character in text.unicodeScalars {
        if character == "\"" || character == "\\" { quoted += "\\" }
        quoted.unicodeScalars.append(character.value < 0x20 ? " " : character)
    }
    return quoted + "\""
}

private func pad(_ text: String, _ width: Int, left: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return left ? space + text : text + space
}
