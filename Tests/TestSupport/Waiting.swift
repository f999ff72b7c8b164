/// Waits until a condition holds, by giving way to the tasks that make it so; the suite's time limit ends a hang.
package func until(_ condition: () -> Bool) async { while !condition() { await Task.yield() } }
