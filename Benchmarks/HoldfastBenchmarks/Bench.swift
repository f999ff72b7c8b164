import Foundation

/// Figures that share their preparation.
protocol Suite {
    static var figures: [String] { get }
    static func measure(_ bench: Bench) throws -> [Figure]
}

/// What a suite gets: what was asked for, and a folder that goes away after it.
struct Bench {
    let options: Options
    let scratch: Scratch
    /// Of those that `--repeat` asks for, from 1.
    let run: Int

    /// Says why a figure is missing, in place of its line.
    func skip(_ figure: String, _ reason: String) {
        if options.wants(figure) { print("\(figure): SKIPPED, \(reason)") }
    }
}

/// One call of the program.
@main
struct Run {
    /// The command comes first: what a child is charged for begins with the memory of the process that started it.
    private static var suites: [any Suite.Type] {
        [
            Command.self, Sizes.self, AgentFigures.self, ProgramFigures.self, ServerFigures.self, ServerSize.self,
            ServerScaling.self,
            ServerEndurance.self, ServerChange.self, ServerUpstream.self, Primitives.self, Hashing.self,
            IdentityMessages.self, TokenBombs.self, Reads.self, Writes.self, Lists.self, Files.self,
            StandardUnlock.self,
            LargeUnlock.self, Searches.self, Imports.self, OwnerFigures.self, StoreFigures.self, DeviceLevel.self,
            SecurityLogs.self,
            CryptoErase.self, VaultScale.self,
        ]
    }

    private let options: Options
    private let scratch: Scratch
    private var noise = Noise()
    private var failures: [(suite: String, reason: String)] = []
    /// What was measured until now, in every run.
    private var soFar: [Figure] = []

    static func main() {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.contains("--help") { return print(Options.usage) }
            let options = try Options(arguments)
            let scratch = try Scratch()
            defer { scratch.remove() }
            scratch.removeOnSignals()
            var run = Run(options: options, scratch: scratch)
            guard try run.measure() else {
                scratch.remove()
                exit(1)
            }
        } catch {
            FileHandle.standardError.write(Data("holdfast-bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private init(options: Options, scratch: Scratch) {
        self.options = options
        self.scratch = scratch
    }

    /// Measures as often as was asked for, writes down the outcome, and says whether every suite ended well.
    private mutating func measure() throws -> Bool {
        noise.sample()
        var names: [String] = []
        var measured: [String: [Figure]] = [:]
        for round in 1...options.repetitions {
            if options.repetitions > 1 { print("run \(round) of \(options.repetitions)") }
            for figure in try everySuite(round) {
                if measured[figure.name] == nil { names.append(figure.name) }
                measured[figure.name, default: []].append(figure)
            }
        }
        let figures = names.compactMap { name in measured[name].flatMap(Figure.median(of:)) }
        if options.repetitions > 1 {
            print("medians of \(options.repetitions) runs")
            for figure in figures { print(figure.line) }
        }
        print(noise.line)
        try write(figures)
        let bounds = figures.compactMap(\.holds)
        print("\(bounds.count(where: { $0 })) of \(bounds.count) bounds hold; figures in \(options.output)")
        for failure in failures { print("FAILED: \(failure.suite): \(failure.reason)") }
        return failures.isEmpty
    }

    /// A suite that fails is one line; what the others measure is kept, and written down as it comes.
    private mutating func everySuite(_ run: Int) throws -> [Figure] {
        var all: [Figure] = []
        for suite in Run.suites where suite.figures.contains(where: options.wants) {
            let folder = try scratch.folder("\(suite)")
            defer { folder.remove() }
            var figures: [Figure] = []
            do {
                figures = try suite.measure(Bench(options: options, scratch: folder, run: run))
            } catch {
                failures.append(("\(suite)", "\(error)"))
                print("\(suite): FAILED, \(error)")
            }
            noise.sample()
            for var figure in figures where options.wants(figure.name) {
                figure.isNoisy = noise.isLastNoisy
                print(figure.line)
                all.append(figure)
                soFar.append(figure)
            }
            fflush(nil)
            try write(soFar)
        }
        return all
    }

    private func write(_ figures: [Figure]) throws {
        let failed = failures.map { "{\"suite\": \(quoted($0.suite)), \"reason\": \(quoted($0.reason))}" }
        let lines = figures.map { "    " + $0.json }.joined(separator: ",\n")
        let json = """
            {
              "machine": \(Machine.json(options.facts)),
              "noise": \(noise.json),
              "quick": \(options.isQuick),
              "failed": [\(failed.joined(separator: ", "))],
              "figures": [
            \(lines)
              ]
            }

            """
        try json.write(toFile: options.output, atomically: true, encoding: .utf8)
    }
}
