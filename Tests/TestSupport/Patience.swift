package import Testing

extension Trait where Self == TimeLimitTrait {
    /// For what waits without a limit of its own. A test of the main actor waits for all others of it in turn.
    package static var patient: Self { .timeLimit(.minutes(30)) }

    /// For what works for as long as it is told.
    package static var enduring: Self { .timeLimit(.minutes(24 * 60)) }
}
