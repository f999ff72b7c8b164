/// A part of the tour: a title and the steps below it. Each chapter has a file of its own in `Chapters/`.
struct Chapter: Sendable {
    let title: String
    let steps: [Step]

    /// All chapters in their order; later ones build on what earlier ones left in the ``Tour``.
    static let all: [Chapter] = [
        .ladder, .creation, .storing, .everyday, .locking, .agent, .programs, .rules, .openCompartment,
        .changingPasscode,
        .recovery, .backup, .log,
        .onDisk, .machine, .identity, .devices, .selfDestruct, .wiping,
    ]
}

/// One thing that is done and checked.
struct Step: Sendable {
    let title: String
    /// Returns the facts shown behind the time, and throws when anything is not as it must be.
    let run: @Sendable (Tour) async throws -> String

    init(_ title: String, _ run: @escaping @Sendable (Tour) async throws -> String) {
        self.title = title
        self.run = run
    }
}

/// A step found something that is not as it must be.
struct TourFailure: Error, CustomStringConvertible {
    let description: String
}
