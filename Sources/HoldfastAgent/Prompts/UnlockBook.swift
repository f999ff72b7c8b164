internal import AppLockCore
package import VaultHeader

/// Who waits for a locked vault, and the one question that is asked for all of them. A value without any effect; times
/// come from the clock that includes sleep.
///
/// A question is asked for the first who waits. If that one leaves, it is asked for the next. A no stands for all, and
/// for a minute: a program that asks again and again would get a yes in the end.
package struct UnlockBook: Sendable {
    /// A client that waits.
    package struct Waiter: Sendable, Hashable {
        /// Of its connection, or of its prompt or call on the bus.
        package let number: UInt64
        package let face: Face
        /// Who shares a part of the places: the session, or the process where that is not known; nil for what has
        /// limits elsewhere.
        package let share: Int32?
        /// Whether the user called for the unlock itself: an earlier no to a program does not matter then.
        package let isExplicit: Bool

        package init(number: UInt64, face: Face, share: Int32?, isExplicit: Bool = false) {
            (self.number, self.face, self.share, self.isExplicit) = (number, face, share, isExplicit)
        }
    }

    /// Where a client comes from.
    package enum Face: Sendable, Hashable, CaseIterable {
        case command
        case ssh
        case bus

        /// Clients that wait at once: fewer than may connect, so that others still can.
        package var most: Int {
            switch self {
            case .command: 128
            case .ssh: 56
            case .bus: 64
            }
        }
    }

    /// Of one session.
    package static let mostOfShare = 48
    /// Wrong answers, after which nobody is asked any more.
    package static let mostTries = 3
    /// Milliseconds for which a no stands.
    package static let refusalTime: UInt64 = 60_000

    package enum Entry: Sendable, Hashable {
        case waits
        /// The user has just refused.
        case refused
        case full
    }

    /// What is to be done next.
    package enum Step: Sendable, Hashable {
        /// Open a vault that opens without asking.
        case open
        /// Ask the user, in the name of this client.
        case ask(UInt64)
    }

    private enum Stage: Sendable, Hashable {
        case resting
        case opening
        case asking(UInt64)
        /// What the user entered is being checked.
        case checking
    }

    private var waiting: [Waiter] = []
    private var stage = Stage.resting
    private var wrong = 0
    private var refused: BootInstant?
    /// Whether that was a no to an unlock that the user called for. Any program can call for one.
    private var isRefusedWhole = false

    package init() {}

    package var isEmpty: Bool { waiting.isEmpty }

    package var numbers: [UInt64] { waiting.map(\.number) }

    /// The client in whose name a question stands.
    package var asked: UInt64? {
        if case .asking(let number) = stage { return number }
        return nil
    }

    /// A client begins to wait.
    /// - Parameter asks: Whether the user has to be asked; otherwise a no does not matter.
    package mutating func join(_ waiter: Waiter, asks: Bool, _ now: BootInstant) -> Entry {
        if asks, !waiter.isExplicit || isRefusedWhole, isRefused(now) { return .refused }
        guard waiting.count(where: { $0.face == waiter.face }) < waiter.face.most,
            waiter.share == nil || waiting.count(where: { $0.share == waiter.share }) < UnlockBook.mostOfShare
        else { return .full }
        waiting.append(waiter)
        return .waits
    }

    private func isRefused(_ now: BootInstant) -> Bool {
        refused.flatMap { now.milliseconds(since: $0) }.map { $0 < UnlockBook.refusalTime } ?? false
    }

    /// A client has gone. A question in its name is withdrawn.
    package mutating func leave(_ number: UInt64) {
        waiting.removeAll { $0.number == number }
        if stage == .asking(number) { stage = .resting }
        if waiting.isEmpty { wrong = 0 }
    }

    /// What is to be done now; each step once.
    /// - Parameter isUnasked: Whether the vault opens without asking.
    package mutating func next(isUnasked: Bool) -> Step? {
        guard stage == .resting, let first = waiting.first else { return nil }
        stage = isUnasked ? .opening : .asking(first.number)
        return isUnasked ? .open : .ask(first.number)
    }

    /// The user has entered something.
    package mutating func enter() { stage = .checking }

    /// What was entered is wrong: the user is asked again, or everybody is turned away.
    /// - Returns: The numbers of those who are turned away.
    package mutating func fail() -> [UInt64] {
        guard !waiting.isEmpty, wrong + 1 < UnlockBook.mostTries else { return end() }
        wrong += 1
        stage = .resting
        return []
    }

    /// The user has refused, or nobody answered.
    /// - Returns: The numbers of those who are turned away.
    package mutating func refuse(_ now: BootInstant) -> [UInt64] {
        // Whose question it was, or, where that one has gone meanwhile, anybody's.
        let isExplicit = waiting.contains { $0.isExplicit && (asked ?? $0.number) == $0.number }
        isRefusedWhole = isExplicit || isRefusedWhole && isRefused(now)
        refused = now
        return end()
    }

    /// The vault is open, by whatever.
    /// - Returns: The numbers of those who continue.
    package mutating func open() -> [UInt64] {
        (refused, isRefusedWhole) = (nil, false)
        return end()
    }

    /// Nobody waits any more.
    /// - Returns: The numbers of those who did.
    package mutating func end() -> [UInt64] {
        defer { (waiting, stage, wrong) = ([], .resting, 0) }
        return numbers
    }
}
