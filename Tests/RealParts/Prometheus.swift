import Foundation

/// Prometheus with a configuration and rules of the documents, and its data in a folder of its own.
package final class Prometheus {
    private static let program = "/usr/bin/prometheus"
    package static let isInstalled = FileManager.default.isExecutableFile(atPath: program)

    /// `HOST:PORT`.
    package let address: String
    private let process: Spawned
    private let started: Started
    private let folder: String

    /// - Parameters:
    ///   - configuration: The text of `prometheus.yml`.
    ///   - rules: Those of `alerts.yml`, which it names.
    ///   - port: To listen at.
    package init(configuration: String, rules: String, at port: UInt16) throws {
        folder = NSTemporaryDirectory() + "holdfast-prometheus-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        started = Started(in: folder, endingWith: SIGKILL)
        for (name, text) in [("prometheus.yml", configuration), ("alerts.yml", rules)] {
            try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        }
        let output = unsafe open("\(folder)/output", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(output) }
        address = "127.0.0.1:\(port)"
        process = try Spawned(
            [
                Self.program, "--config.file=\(folder)/prometheus.yml", "--storage.tsdb.path=\(folder)/data",
                "--web.listen-address=\(address)", "--log.level=warn",
            ], output: output)
        started.add(process)
    }

    deinit { started.end() }

    package var isRunning: Bool { process.isRunning }

    package var output: String { (try? String(contentsOfFile: "\(folder)/output", encoding: .utf8)) ?? "" }
}
