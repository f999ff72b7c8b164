import CAdw

/// What the desktop and the machine say over D-Bus.
package final class SystemEvents {
    /// Something that happens to the session or the machine.
    package enum Event: Sendable {
        case sessionLocked, sessionUnlocked, sleeps, wakes, switchedAway, switchedBack, lidClosed
    }

    private final class Subscription {
        let action: (Int) -> Void
        let property: String?
        init(_ property: String?, _ action: @escaping (Int) -> Void) {
            (self.property, self.action) = (property, action)
        }
    }

    private let report: (Event) -> Void
    private var system: Object?
    private var inhibitor: Int32 = -1

    package init(_ report: @escaping (Event) -> Void) {
        self.report = report
        if let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil) {
            for interface in ["org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver"] {
                // -1 is a signal that says nothing: taken as the dangerous one.
                subscribe(bus, nil, interface, "ActiveChanged") { [unowned self] in
                    self.report($0 == 0 ? .sessionUnlocked : .sessionLocked)
                }
            }
            g_object_unref(UnsafeMutableRawPointer(bus))
        }
        guard let bus = g_bus_get_sync(G_BUS_TYPE_SYSTEM, nil, nil) else { return }
        system = Object(bus)
        g_object_unref(UnsafeMutableRawPointer(bus))
        let logind = "org.freedesktop.login1"
        subscribe(bus, logind, "\(logind).Session", "Lock") { [unowned self] _ in self.report(.sessionLocked) }
        subscribe(bus, logind, "\(logind).Session", "Unlock") { [unowned self] _ in self.report(.sessionUnlocked) }
        subscribe(bus, logind, "\(logind).Manager", "PrepareForSleep") { [unowned self] begins in
            self.report(begins == 0 ? .wakes : .sleeps)
            if begins == 0 { delaySleep() }
        }
        let properties = "org.freedesktop.DBus.Properties"
        subscribe(bus, logind, properties, "PropertiesChanged", of: "Active") { [unowned self] isActive in
            if isActive >= 0 { self.report(isActive == 0 ? .switchedAway : .switchedBack) }
        }
        subscribe(bus, "org.freedesktop.UPower", properties, "PropertiesChanged", of: "LidIsClosed") {
            [unowned self] isClosed in
            if isClosed == 1 { self.report(.lidClosed) }
        }
        delaySleep()
    }

    /// The machine may sleep now: what had to be done before is done.
    package func letSleep() {
        if inhibitor >= 0 { close(inhibitor) }
        inhibitor = -1
    }

    /// Asks for the moment that dropping keys takes.
    private func delaySleep() {
        guard inhibitor < 0, let system else { return }
        inhibitor = cadw_delay_sleep(system.opaque, "Holdfast", "Locks the vault")
    }

    private func subscribe(
        _ bus: OpaquePointer, _ sender: String?, _ interface: String, _ member: String, of property: String? = nil,
        _ action: @escaping (Int) -> Void
    ) {
        let data = Unmanaged.passRetained(Subscription(property, action)).toOpaque()
        g_dbus_connection_signal_subscribe(
            bus, sender, interface, member, nil, nil, G_DBUS_SIGNAL_FLAGS_NONE,
            { _, _, _, _, _, parameters, data in
                nonisolated(unsafe) let (parameters, data) = (parameters!, data!)
                MainActor.assumeIsolated {
                    let subscription = Unmanaged<Subscription>.fromOpaque(data).takeUnretainedValue()
                    if let property = subscription.property {
                        subscription.action(Int(cadw_changed_boolean(parameters, property)))
                    } else {
                        subscription.action(Int(cadw_first_boolean(parameters)))
                    }
                }
            }, data, { Unmanaged<AnyObject>.fromOpaque($0!).release() })
    }
}
