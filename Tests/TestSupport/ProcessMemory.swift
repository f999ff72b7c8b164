#if os(Linux) && !canImport(Darwin)
import Foundation
import Testing

/// What this process has in memory, in kB.
package struct ProcessMemory {
    package let resident: Int
    package let peak: Int

    package init() throws {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        func value(_ field: String) throws -> Int {
            try #require(lines.first { $0.hasPrefix(field + ":") }.flatMap { Int($0.filter(\.isNumber)) })
        }
        (resident, peak) = try (value("VmRSS"), value("VmHWM"))
    }
}
#endif
