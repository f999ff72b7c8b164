/// What was asked for on the command line.
struct Options {
    static let usage = """
        usage: holdfast-bench [--quick] [--long] [--only NAME]... [--repeat N] [--output FILE] [--holdfast FILE]
                              [--server FILE] [--earlier-server FILE] [--hello FILE] [--fact NAME=TEXT]...

          --quick          fewer rounds and records; the figures are rougher
          --long           also what takes minutes: the server's memory over five of them
          --only NAME      only the figures whose name begins with NAME; may be repeated
          --repeat N       measure N times and give the medians
          --output FILE    where the figures go as JSON (default: bench.json)
          --holdfast FILE  the command to measure (default: holdfast beside this program)
          --server FILE    the identity server to measure (default: none)
          --earlier-server FILE    another build of it, to say what has changed (figures server-change-)
          --hello FILE     a static Swift program that only says hello, which the command is compared with
          --fact NAME=TEXT goes into the JSON with what is known of the machine
        """

    var isQuick = false
    var isLong = false
    var only: [String] = []
    var output = "bench.json"
    var command: String?
    var server: String?
    var earlier: String?
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
            case "--hello": hello = try Options.value(of: argument, rest.next())
            case "--repeat":
                guard let count = Int(try Options.value(of: argument, rest.next())), (1...99).contains(count) else {
                    throw BenchmarkError("--repeat takes a number from 1 to 99")
                }
                repetitions = count
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

    func wants(_ figure: String) -> Bool { only.isEmpty || only.contains { figure.hasPrefix($0) } }

    /// One number for a full run, another for a quick one.
    func count(_ full: Int, quick: Int) -> Int { isQuick ? quick : full }
}

/// Why nothing could be measured.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
