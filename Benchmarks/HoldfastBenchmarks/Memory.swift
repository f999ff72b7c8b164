import CRawLoops
import Foundation

/// The memory of this process. The kernel keeps the peak, and starts it anew when it is told to.
enum Memory {
    /// Starts the peak anew, and says what the process has, in MB.
    static func restart() throws -> Double {
        raw_give_memory_back()  // what was freed cannot be used again unseen then
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        return try megabytes("VmRSS")
    }

    /// The most that the process had since then, in MB.
    static func peak() throws -> Double { try megabytes("VmHWM") }

    static func megabytes(_ field: String, of process: String = "self") throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix(field + ":") }
        guard let number = line.flatMap({ Double($0.filter(\.isNumber)) }) else { throw BenchmarkError("no \(field)") }
        return number * 1.024 / 1000
    }
}
