/// One measured figure and the bound it is held against.
struct Figure {
    enum Bound {
        case atMost(Double)
        case atLeast(Double)
    }

    let name: String
    let value: Double
    let unit: String
    let bound: Bound
    /// What the value was made of, for the reader of the line.
    let detail: String

    var holds: Bool {
        switch bound {
        case .atMost(let limit): value <= limit
        case .atLeast(let limit): value >= limit
        }
    }

    private var limit: Double {
        switch bound {
        case .atMost(let limit), .atLeast(let limit): limit
        }
    }

    var line: String {
        let sign = if case .atMost = bound { "<=" } else { ">=" }
        let columns = [
            pad(name, 24), pad(number(value), 8, left: true), pad(unit, 5), sign, pad(number(limit), 6),
            holds ? "holds " : "MISSED", detail,
        ]
        return columns.joined(separator: " ")
    }

    var json: String {
        "{\"name\": \"\(name)\", \"value\": \(number(value)), \"unit\": \"\(unit)\", "
            + "\"bound\": \(number(limit)), \"holds\": \(holds)}"
    }
}

/// Two or three significant digits, never an exponent.
func number(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    let places = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : 2
    let scale = [1, 10, 100][places]
    let scaled = Int((abs(value) * Double(scale)).rounded())
    var text = String(scaled / scale)
    if places > 0 {
        let fraction = String(scaled % scale)
        text += "." + String(repeating: "0", count: places - fraction.count) + fraction
    }
    return value < 0 && scaled != 0 ? "-" + text : text
}

private func pad(_ text: String, _ width: Int, left: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return left ? space + text : text + space
}
