import Foundation

/// How large the programs are as they are installed.
struct Sizes: Suite {
    static let figures = ["size-command", "size-server"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        let programs = [
            ("size-command", Command.found(bench, for: ["size-command"])?.path), ("size-server", bench.options.server),
        ]
        let strip = Command(path: "/usr/bin/strip")
        return try programs.compactMap { name, path in
            guard let path, bench.options.wants(name) else { return nil }
            let stripped = bench.scratch.file(name)
            try strip.expect(strip.run(["-o", stripped, path]), "-o")
            let size =
                (try FileManager.default.attributesOfItem(atPath: stripped)[.size] as? NSNumber)?.doubleValue ?? 0
            return Figure(
                name: name, absolute: .init(size / 1e6, "MB"),
                detail: "\(URL(fileURLWithPath: path).lastPathComponent), stripped, Swift's runtime in it")
        }
    }
}
