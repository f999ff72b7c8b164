package import CAdw

/// One trampoline serves every signal: the closure has a marshaller of its own, so that the C argument list never has
/// to be written out in Swift.
private final class Handler {
    let call: (UnsafePointer<GValue>, Int) -> Bool?
    init(_ call: @escaping (UnsafePointer<GValue>, Int) -> Bool?) { self.call = call }
}

/// A closure for a signal; GLib owns it and releases what it holds.
func makeClosure(_ call: @escaping (UnsafePointer<GValue>, Int) -> Bool?) -> UnsafeMutablePointer<GClosure> {
    let box = Unmanaged.passRetained(Handler(call)).toOpaque()
    let closure = g_closure_new_simple(guint(MemoryLayout<GClosure>.size), box)!
    g_closure_set_marshal(closure) { closure, result, count, arguments, _, _ in
        // GTK emits on the thread that runs its loop, which is the main one.
        nonisolated(unsafe) let (closure, result, arguments) = (closure!, result, arguments!)
        MainActor.assumeIsolated {
            let handler = Unmanaged<Handler>.fromOpaque(closure.pointee.data).takeUnretainedValue()
            let answer = handler.call(arguments, Int(count))
            if let result, let answer { g_value_set_boolean(result, answer ? 1 : 0) }
        }
    }
    g_closure_add_invalidate_notifier(closure, box) { data, _ in Unmanaged<Handler>.fromOpaque(data!).release() }
    return closure
}

extension Object {
    /// `call` gets the signal's arguments (the first is the emitter); what it returns is handed back where the signal
    /// wants a boolean.
    package func onEmission(_ signal: String, _ call: @escaping (UnsafePointer<GValue>, Int) -> Bool?) {
        g_signal_connect_closure(raw, signal, makeClosure(call), 0)
    }

    package func on(_ signal: String, _ action: @escaping () -> Void) {
        onEmission(signal) { _, _ in
            action()
            return nil
        }
    }
}
