import CRawLoops
import Foundation

/// What the figures were measured on.
enum Machine {
    /// - Parameter given: What only the caller knows, as the compiler and the commit.
    static func json(_ given: [(String, String)]) -> String {
        var facts: [(String, String)] = [
            ("processor", processor), ("cores", "\(ProcessInfo.processInfo.activeProcessorCount)"),
            ("memoryMB", "\(ProcessInfo.processInfo.physicalMemory / 1_000_000)"), ("kernel", kernel),
        ]
        if let version = unsafe raw_openssl_version() { facts.append(("openssl", unsafe String(cString: version))) }
        facts += given
        return "{" + facts.map { "\(quoted($0.0)): \(quoted($0.1))" }.joined(separator: ", ") + "}"
    }

    private static var processor: String {
        guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else { return "" }
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") || $0.hasPrefix("CPU part") }
        return line?.split(separator: ":", maxSplits: 1).last.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
    }

    private static var kernel: String {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }
}
