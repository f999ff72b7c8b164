import Foundation

/// A folder for scratch data beside the built program: a real disk, ignored by git, removed by `make clean`.
final class Scratch: Sendable {
    let path: String

    init() throws {
        let template = URL(fileURLWithPath: Scratch.program).deletingLastPathComponent().path + "/scratch-XXXXXX"
        var name = Array(template.utf8CString)
        guard unsafe mkdtemp(&name) != nil else { throw BenchmarkError("no scratch folder beside \(Scratch.program)") }
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private init(path: String) { self.path = path }

    /// A folder in it.
    func folder(_ name: String) throws -> Scratch {
        let folder = Scratch(path: file(name))
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        return folder
    }

    /// The path of this program.
    static var program: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }

    func file(_ name: String) -> String { path + "/" + name }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Takes the folder away when the run is interrupted. Called before any other thread is made.
    func removeOnSignals() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, signal) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        let waited = signals
        let thread = Thread { [self] in
            var signals = waited
            var received: Int32 = 0
            unsafe sigwait(&signals, &received)
            remove()
            _exit(128 + received)
        }
        thread.start()
    }
}
