package import Testing

/// Waits for what other tasks of this actor do. A condition that never comes is a failure of its test, not a run without an end.
package func until(
    _ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async {
    let deadline = ContinuousClock.now + .seconds(60)
    while !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("what is waited for does not come", sourceLocation: sourceLocation)
            return
        }
        await Task.yield()
    }
}
