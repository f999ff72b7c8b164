import Cryptography
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat

/// A scratch folder with a vault's home in it, removed with it.
final class Sandbox {
    let path: String
    private var files = 0

    init() throws {
        path = NSTemporaryDirectory() + "holdfast-command-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// With a copy of the prepared vault.
    convenience init(prepared: Bool) throws {
        try self.init()
        if prepared { try FileManager.default.copyItem(atPath: Prepared.shared().home, toPath: home) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var home: String { path + "/home" }

    /// Writes a file and returns its path.
    func file(_ bytes: some Sequence<UInt8>, _ name: String? = nil) throws -> String {
        files += 1
        let target = path + "/" + (name ?? "file-\(files)")
        try Data(bytes).write(to: URL(fileURLWithPath: target))
        return target
    }

    func lines(_ lines: String...) throws -> Source {
        .file(try file(lines.joined(separator: "\n").utf8))
    }

    func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path + "/" + name) }

    /// Runs the binary to its end.
    func run(
        _ words: String..., passcode: String? = nil, input: Source = .null, descriptors: [Int32: Source] = [:],
        environment: [String: String] = [:]
    ) throws -> Result {
        try run(
            raw: words.map { Array($0.utf8) }, passcode: passcode, input: input, descriptors: descriptors,
            environment: environment)
    }

    /// - Parameters:
    ///   - program: The program; `holdfast` unless another is named.
    ///   - passcode: Handed over on descriptor 3, where the option is added for it.
    ///   - started: Hears of the process when it runs.
    ///   - seconds: After which it is said to hang.
    func run(
        _ program: String = Program.path, raw words: [[UInt8]], passcode: String? = nil, input: Source = .null,
        descriptors: [Int32: Source] = [:], environment: [String: String] = [:], started: ((pid_t) -> Void)? = nil,
        seconds: Int32 = Patience.seconds
    ) throws -> Result {
        files += 1
        let (output, errors) = ("out-\(files)", "err-\(files)")
        var all: [Int32: Source] = [
            0: input, 1: .output(path + "/" + output), 2: .output(path + "/" + errors),
        ]
        var words = words
        if let passcode {
            all[3] = .file(try file((passcode + "\n").utf8))
            words.insert(Array("--passcode-fd=3".utf8), at: words.firstIndex(of: Array("--".utf8)) ?? words.count)
        }
        all.merge(descriptors) { $1 }
        let variables = ["HOLDFAST_HOME": home, "HOME": path, "TMPDIR": path].merging(environment) { $1 }
        let child = try Child(program, raw: words, descriptors: all, environment: variables)
        started?(child.pid)
        let code = child.wait(seconds: seconds)
        return Result(
            code: code, output: exists(output) ? try bytes(output) : [],
            errors: exists(errors) ? String(decoding: try bytes(errors), as: UTF8.self) : "")
    }

    /// For scripts of the shell: `await CONDITION` asks again until it is so. What never comes ends the script, which
    /// says so.
    static let awaiting = """
        await() {
            local tries=0
            until eval "$1"; do
                tries=$((tries + 1))
                if [ $tries -gt \(Patience.seconds * 20) ]; then echo "never came: $1" >&2; exit 97; fi
                sleep 0.05
            done
        }

        """

    /// What a run left.
    struct Result {
        let code: Int32
        let output: [UInt8]
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }

        /// The one JSON object on standard output.
        func json() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(output)) as? [String: Any], "\(text)")
        }

        /// The `error` object of `--json`.
        func jsonError() throws -> [String: Any] { try #require(try json()["error"] as? [String: Any]) }
    }
}

/// A vault that is made once, with the least costs that the command takes; tests work on copies.
struct Prepared: Sendable {
    static let passcode = "correct horse"
    static let greeting = "Guten Tag\n"
    static let big: [UInt8] = (0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }

    let home: String
    let phrase: String

    private static let made = Swift.Result { try make() }

    static func shared() throws -> Prepared { try made.get() }

    private static func make() throws -> Prepared {
        let folder = NSTemporaryDirectory() + "holdfast-prepared-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        removedAtExit.withLock { $0 = folder }
        atexit { try? FileManager.default.removeItem(atPath: removedAtExit.withLock { $0 }) }
        let sandbox = try Sandbox()
        let home = folder + "/home"
        let variables = ["HOLDFAST_HOME": home]
        let least = DerivationLimits.standard.floor
        let secret = try SecretBytes(count: passcode.utf8.count) { memory in
            for (index, byte) in passcode.utf8.enumerated() {
                memory.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
            }
        }
        let words = try Vault.create(at: home, passcode: secret, settings: VaultSettings(costs: least))
        let phrase = words.withText { unsafe $0.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
        let greeting = try sandbox.run(
            "put", "greeting", passcode: passcode, input: .file(sandbox.file(greeting.utf8)), environment: variables)
        try #require(greeting.code == 0, "\(greeting.errors)")
        let big = try sandbox.run(
            "put", "big", "--collection", "files", passcode: passcode, input: .file(sandbox.file(big)),
            environment: variables)
        try #require(big.code == 0, "\(big.errors)")
        return Prepared(home: home, phrase: phrase)
    }
}

/// Set once, before the handler that reads it.
private let removedAtExit = Mutex("")
