import Observation

/// Calls `apply` with what `read` gives now and after every change to an observable property that `read` looked at.
/// Changes within one turn of the loop are merged. Stops when `owner` goes.
package func bind<Value: Equatable>(
    _ owner: AnyObject, _ read: @escaping () -> Value, _ apply: @escaping (Value) -> Void
) {
    Binding(owner, read, apply).update()
}

private final class Binding<Value: Equatable> {
    private weak var owner: AnyObject?
    private let read: () -> Value
    private let apply: (Value) -> Void
    private var last: Value?

    init(_ owner: AnyObject, _ read: @escaping () -> Value, _ apply: @escaping (Value) -> Void) {
        (self.owner, self.read, self.apply) = (owner, read, apply)
    }

    func update() {
        guard owner != nil else { return }
        let value = withObservationTracking(read) {
            Task { @MainActor in self.update() }
        }
        guard value != last else { return }
        last = value
        apply(value)
    }
}
