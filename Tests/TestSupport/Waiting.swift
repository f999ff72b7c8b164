package import Testing

/// Waits for what other tasks of this actor do. A condition that never comes is a failure of its test, not a run
/// without an end.
///
/// Only the time in which this actor was free counts, not the time in which others kept it: the main actor serves
/// hundreds of tests in turn, and one round through all of them can take minutes on busy cores. So a round counts as 10
/// ms at most.
package func until(
    _ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async {
    var patience = Duration.seconds(120)
    var last = ContinuousClock.now
    while !condition() {
        guard patience > .zero else {
            Issue.record("what is waited for does not come", sourceLocation: sourceLocation)
            return
        }
        await Task.yield()
        let now = ContinuousClock.now
        patience -= min(now - last, .milliseconds(10))
        last = now
    }
}
