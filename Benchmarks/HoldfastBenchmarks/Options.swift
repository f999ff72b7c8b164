/// What was asked for on the command line.
struct Options {
    static let usage = """
        usage: holdfast-bench [--quick] [--long] [--only NAME]... [--output FILE] [--holdfast FILE] [--server FILE]
                              [--earlier-server FILE]

          --quick          fewer rounds and records; the figures are rougher
          --long           also what takes minutes: the server's memory over five of them
          --only NAME      only the figures whose name begins with NAME; may be repeated
          --output FILE    where the figures go as JSON (default: bench.json)
          --holdfast FILE  the command to measure (default: holdfast beside this program)
          --server FILE    the identity server to measure (default: none)
          --earlier-server FILE    another build of it, to say what has changed (figures server-change-)
        """

    var isQuick = false
    var isLong = false
    var only: [String] = []
    var output = "bench.json"
    var command: String?
    var server: String?
    var earlier: String?

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
            default: throw BenchmarkError("unknown argument \(argument)\n\(Options.usage)")
            }
        }
    }

    private static func value(of option: String, _ value: String?) throws(BenchmarkError) -> String {
        guard let value else { throw BenchmarkError("\(option) needs a value\n\(Options.usage)") }
        return value
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
