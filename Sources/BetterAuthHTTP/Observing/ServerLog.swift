internal import BetterAuthMessages
package import BetterAuthServer
internal import Synchronization
internal import SystemCalls

/// One line of JSON for each event, on standard error. Never a body, a token, a key, a nonce or an identity.
package struct ServerLog: Sendable {
    package enum Level: Int, Sendable, Comparable {
        case error, warning, notice, info

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// What a field says.
    package enum Value: Sendable, Hashable, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
        case text(String)
        case number(Int)

        package init(stringLiteral text: String) { self = .text(text) }

        package init(integerLiteral number: Int) { self = .number(number) }
    }

    /// Shared by all copies, so that a reload changes them all.
    private final class Threshold: Sendable {
        let level: Atomic<Int>
        init(_ level: Level) { self.level = Atomic(level.rawValue) }
    }

    private let threshold: Threshold
    private let clock: any ServerClock
    private let descriptor: Int32

    package init(_ level: Level, clock: any ServerClock = SystemClock(), descriptor: Int32 = 2) {
        threshold = Threshold(level)
        self.clock = clock
        self.descriptor = descriptor
    }

    package func wants(_ level: Level) -> Bool { level.rawValue <= threshold.level.load(ordering: .relaxed) }

    /// From now on events up to this level are written, by this log and its copies.
    package func adjust(_ level: Level) { threshold.level.store(level.rawValue, ordering: .relaxed) }

    /// - Parameters:
    ///   - event: A name of ours.
    ///   - fields: Names of ours with values that are no secrets.
    ///   - trace: The request that it is about; without one the request that is being answered, if one is.
    package func write(
        _ level: Level, _ event: String, _ fields: KeyValuePairs<String, Value> = [:], of trace: RequestTrace? = nil
    ) {
        guard wants(level) else { return }
        var line = "{\"time\":\"\(clock.now)\",\"level\":\"\(level)\",\"event\":\(ServerLog.quoted(event))"
        for (name, value) in fields {
            line += ",\(ServerLog.quoted(name)):"
            switch value {
            case .text(let text): line += ServerLog.quoted(text)
            case .number(let number): line += String(number)
            }
        }
        if let trace = trace ?? RequestTrace.current {
            line += ",\"request\":\(ServerLog.quoted(trace.id))"
            if let parent = trace.parent { line += ",\"traceparent\":\(ServerLog.quoted(parent))" }
        }
        let bytes = Array((line + "}\n").utf8)
        // If the log cannot be written, requests are still served.
        _ = unsafe SystemCalls.write(descriptor, bytes, bytes.count)
    }

    /// A text as JSON.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: quoted += " "
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
