internal import AgentMessages
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

/// A command without a terminal has its agent ask for the passcode: on a display, by a pinentry program.
enum AskingElsewhere {
    /// - Returns: Milliseconds until it locks if idle.
    /// - Throws: `locked`, with what to do.
    static func unlock(
        _ agent: UnlockingAgent, for purpose: UnlockPurpose, idle: UInt32?, timeout: UInt32?
    ) throws(CommandError) -> UInt64? {
        do throws(CommandError) { return try agent.askToUnlock(for: purpose, idle: idle, timeout: timeout) } catch {
            guard error.code == .locked else { throw error }
            throw CommandError(.refused, code: .locked, error.what, advice: advice)
        }
    }

    private static let advice = "run holdfast unlock on a terminal, or use --passcode-fd N"

    /// Whether an agent that is started here could ask somebody.
    fileprivate static var hasDisplay: Bool {
        func isSet(_ value: UnsafeMutablePointer<CChar>?) -> Bool {
            guard let value = unsafe value else { return false }
            return unsafe value.pointee != 0
        }
        return unsafe isSet(getenv("DISPLAY")) || isSet(getenv("WAYLAND_DISPLAY")) || isSet(getenv("HOLDFAST_PINENTRY"))
    }
}

extension UnlockingAgent {
    /// Whether an agent runs that is locked, and knows where it can ask, or one that is started could.
    var isWorthAsking: Bool {
        switch (try? ifRunning { try $0.status() }) ?? nil {
        case .some(let status): !status.isUnlocked
        case .none: AskingElsewhere.hasDisplay
        }
    }
}
