/// What was asked for on the command line.
struct Options {
    static let usage = """
        usage: holdfast-bench [--quick] [--long] [--scale N] [--only NAME]... [--repeat N] [--output FILE]
                              [--holdfast FILE] [--server FILE] [--earlier-server FILE]
                              [--upstream-server FILE] [--hello FILE] [--fact NAME=TEXT]...

          --quick          fewer rounds and records; the figures are rougher
          --long           also what takes minutes: the server's memory over five of them
          --scale N        also vaults and servers of N million: a minute and half a gigabyte for each
          --only NAME      only the figures whose name begins with NAME; may be repeated
          --repeat N       measure N times and give the medians
          --output FILE    where the figures go as JSON (default: bench.json)
          --holdfast FILE  the command to measure (default: holdfast beside this program)
          --server FILE    the identity server to measure (default: none)
          --earlier-server FILE    another build of it, to say what has changed (figures server-change-)
          --upstream-server FILE   the example server of the protocol's authors (figures server-upstream-)
          --hello FILE     a static Swift program that only says hello, which the command is compared with
          --fact NAME=TEXT goes into the JSON with what is known of the machine
        """

    var isQuick = false
    var isLong = false
    var scale: Int?
    var only: [String] = []
    var output = "bench.json"
    var command: String?
    var server: String?
    var earlier: String?
    var upstream: String?
    var hello: String?
    var repetitions = 1
    var facts: [(String, String)] = []

    init(_ arguments: [String]) throws(BenchmarkError) {
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            switch argument {
            case "--quick": isQuick = true
            case "--long": isLong = true
            case "--only": only.append(try Options.value(of: argument, rest.next()))
            case "--output": output = try Options.value(of: argument, rest.next())
            case "--holdfast": command = try Options.value(of: argument, rest.next())
            case "--server": server = try Options.value(of: argument, rest.next())
            case "--earlier-server": earlier = try Options.value(of: argument, rest.next())
            case "--upstream-server": upstream = try Options.value(of: argument, rest.next())
            case "--hello": hello = try Options.value(of: argument, rest.next())
            case "--repeat": repetitions = try Options.count(of: argument, rest.next(), 1...99)
            case "--scale": scale = try Options.count(of: argument, rest.next(), 1...1000)
            case "--fact":
                let parts = try Options.value(of: argument, rest.next()).split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else { throw BenchmarkError("--fact takes NAME=TEXT") }
                facts.append((String(parts[0]), String(parts[1])))
            default: throw BenchmarkError("unknown argument \(argument)\n\(Options.usage)")
            }
        }
    }

    private static func value(of option: String, _ value: String?) throws(BenchmarkError) -> String {
        guard let value else { throw BenchmarkError("\(option) needs a value\n\(Options.usage)") }
        return value
    }

    private static func count(
        of option: String, _ value: String?, _ range: ClosedRange<Int>
    ) throws(BenchmarkError) -> Int {
        guard let count = Int(try Options.value(of: option, value)), range.contains(count) else {
            throw BenchmarkError("\(option) takes a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }

    func wants(_ figure: String) -> Bool { only.isEmpty || only.contains { figure.hasPrefix($0) } }

    /// One number for a full run, another for a quick one.
    func count(_ full: Int, quick: Int) -> Int { isQuick ? quick : full }
}

/// Why nothing could be measured.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
