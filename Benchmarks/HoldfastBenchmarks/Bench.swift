import Foundation

/// Figures that share their preparation.
protocol Suite {
    static var figures: [String] { get }
    static func measure(_ bench: Bench) throws -> [Figure]
}

/// One run.
@main
struct Bench {
    let options: Options
    let scratch: Scratch

    /// The command comes first: what a child is charged for begins with the memory of the process that started it.
    private static var suites: [any Suite.Type] {
        [
            Command.self, AgentFigures.self, ServerFigures.self, ServerSize.self, ServerScaling.self,
            ServerEndurance.self, ServerChange.self, Primitives.self,
            IdentityMessages.self, TokenBombs.self, Reads.self, Writes.self, StandardUnlock.self,
            LargeUnlock.self, Searches.self, OwnerFigures.self, StoreFigures.self, SecurityLogs.self, CryptoErase.self,
        ]
    }

    static func main() {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.contains("--help") { return print(Options.usage) }
            let options = try Options(arguments)
            let scratch = try Scratch()
            defer { scratch.remove() }
            scratch.removeOnSignals()
            try Bench(options: options, scratch: scratch).run()
        } catch {
            FileHandle.standardError.write(Data("holdfast-bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private func run() throws {
        var figures: [Figure] = []
        for suite in Bench.suites where suite.figures.contains(where: options.wants) {
            for figure in try suite.measure(self) where options.wants(figure.name) {
                print(figure.line)
                fflush(nil)
                figures.append(figure)
            }
        }
        let json = "[\n" + figures.map { "  " + $0.json }.joined(separator: ",\n") + "\n]\n"
        try json.write(toFile: options.output, atomically: true, encoding: .utf8)
        let held = figures.count(where: \.holds)
        print("\(held) of \(figures.count) bounds hold; figures in \(options.output)")
    }

    /// Says why a figure is missing, in place of its line.
    func skip(_ figure: String, _ reason: String) {
        if options.wants(figure) { print("\(figure): skipped, \(reason)") }
    }
}
