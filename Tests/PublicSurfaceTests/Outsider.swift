import Foundation
import RealParts
import TestSupport
import Testing

/// The compiler as an app's package has it: our modules as they were built, and another package's name.
enum Outsider {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Where the modules lie that these tests were built with.
    private static var modules: String { products + "/Modules" }

    /// Where what these tests were built with lies.
    static var products: String {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: tests).deletingLastPathComponent().path
    }

    private static var options: [String] {
        get throws {
            let sources = try FileManager.default.contentsOfDirectory(atPath: root.path + "/Sources")
            let maps = sources.filter { $0.hasPrefix("C") }.map { root.path + "/Sources/\($0)/module.modulemap" }
                .filter { FileManager.default.fileExists(atPath: $0) }
            return [
                "swiftc", "-swift-version", "6", "-parse-as-library", "-package-name", "another", "-I", modules,
            ] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
        }
    }

    /// - Parameters:
    ///   - mode: How far it is compiled: what is used up twice is only seen behind the types.
    ///   - warningsAsErrors: False for lines that are cut out of their context: a value may go unused there.
    /// - Returns: The exit status, and what the compiler says.
    static func check(
        _ files: [String], mode: [String] = ["-typecheck"], warningsAsErrors: Bool = true
    ) throws -> (status: Int32, words: String) {
        let folder = try ScratchFolder("compiler")
        let output = unsafe open(folder["said"], O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(output) }
        let compiler = try Spawned(
            try options + mode + (warningsAsErrors ? ["-warnings-as-errors"] : []) + files,
            environment: ["TMPDIR": folder.path], output: output)
        let status = compiler.wait()
        return (status, try String(contentsOfFile: folder["said"], encoding: .utf8))
    }

    /// As above, for a source that is a text.
    static func check(source: String, mode: [String] = ["-typecheck"]) throws -> (status: Int32, words: String) {
        let folder = try ScratchFolder("source")
        try source.write(toFile: folder["Source.swift"], atomically: true, encoding: .utf8)
        return try check([folder["Source.swift"]], mode: mode)
    }
}
