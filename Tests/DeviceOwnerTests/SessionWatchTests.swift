import Foundation
import RealParts
import TestSupport
import Testing

@testable import DeviceOwner

/// logind, UPower and both screen savers, played by python-dbusmock on a bus that is system and session at once.
@Suite(.enabled(if: PrivateBus.hasMocks, "python3-dbusmock is not installed: lock and sleep signals are not tested"))
struct SessionWatchTests {
    /// The next events, however long they take.
    private func events(_ watch: SessionWatch) -> [SessionEvent] {
        var events: [SessionEvent] = []
        _ = Patience.wait {
            events = watch.takeEvents()
            return !events.isEmpty
        }
        return events
    }

    @Test func everythingThatLocksIsHeard() throws {
        let bus = try PrivateBus()
        try bus.mock("logind", name: "org.freedesktop.login1")
        try bus.mock("gnome_screensaver", name: "org.gnome.ScreenSaver")
        try bus.mock(
            name: "org.freedesktop.ScreenSaver", path: "/org/freedesktop/ScreenSaver",
            interface: "org.freedesktop.ScreenSaver")
        try bus.mock("upower", name: "org.freedesktop.UPower")
        try bus.python(
            """
            o = bus.get_object('org.freedesktop.login1', '/org/freedesktop/login1')
            i = dbus.Interface(o, 'org.freedesktop.DBus.Mock')
            i.AddSession('c1', 'seat0', dbus.UInt32(\(getuid())), 'me', True)
            i.AddSession('c2', 'seat0', dbus.UInt32(\(getuid() + 1)), 'other', True)
            """)
        let address = BusAddress(bus.address)
        let watch = SessionWatch(.init(system: address, session: address))
        #expect(watch.missing.isEmpty, "\(watch.missing)")
        #expect(watch.delaysSleep)

        let (login, manager, session) = (
            "org.freedesktop.login1", "org.freedesktop.login1.Manager", "org.freedesktop.login1.Session"
        )
        func emit(_ path: String, _ interface: String, _ member: String, _ signature: String, _ arguments: String)
            throws
        {
            try bus.emit(
                login, path: path, interface: interface, member: member, signature: signature, arguments)
        }
        let mine = "/org/freedesktop/login1/session/c1"
        try emit(mine, session, "Lock", "", "")
        #expect(events(watch) == [.locked])
        try emit(mine, session, "Unlock", "", "")
        #expect(events(watch) == [.unlocked])
        // Another user's session is not ours: only what comes after it is heard.
        try emit("/org/freedesktop/login1/session/c2", session, "Lock", "", "")
        try emit("/org/freedesktop/login1", manager, "PrepareForSleep", "b", "True")
        #expect(events(watch) == [.sleeps])
        watch.allowSleep()
        #expect(!watch.delaysSleep)
        try emit("/org/freedesktop/login1", manager, "PrepareForSleep", "b", "False")
        #expect(events(watch) == [.woke])
        #expect(watch.delaysSleep, "the next sleep waits again")

        try bus.python(
            """
            o = bus.get_object('org.gnome.ScreenSaver', '/org/gnome/ScreenSaver')
            dbus.Interface(o, 'org.gnome.ScreenSaver').SetActive(True)
            """)
        #expect(events(watch) == [.locked])
        try bus.emit(
            "org.freedesktop.ScreenSaver", path: "/org/freedesktop/ScreenSaver",
            interface: "org.freedesktop.ScreenSaver", member: "ActiveChanged", signature: "b", "False")
        #expect(events(watch) == [.unlocked])
        try bus.emit(
            "org.freedesktop.UPower", path: "/org/freedesktop/UPower", interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged", signature: "sa{sv}as",
            """
            'org.freedesktop.UPower', dbus.Dictionary({'OnBattery': True, 'LidIsClosed': True}, signature='sv'),
                dbus.Array([], signature='s')
            """)
        #expect(events(watch) == [.lidClosed])
        for isActive in [false, true] {
            try emit(
                mine, "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
                """
                'org.freedesktop.login1.Session', dbus.Dictionary({'Active': \(isActive ? "True" : "False")},
                    signature='sv'), dbus.Array([], signature='s')
                """)
            #expect(events(watch) == [isActive ? .switchedBack : .switchedAway])
        }
    }

    @Test func withoutABusNothingIsHeardAndThatIsSaid() throws {
        let nowhere = BusAddress("unix:path=/nonexistent/bus")
        let watch = SessionWatch(.init(system: nowhere, session: nowhere))
        #expect(watch.missing.count == 2)
        #expect(watch.descriptors.isEmpty)
        #expect(watch.takeEvents().isEmpty)
        #expect(!watch.delaysSleep)
    }

    @Test func aBusThatGoesAwayLocks() throws {
        var bus: PrivateBus? = try PrivateBus()
        let address = BusAddress(try #require(bus).address)
        let watch = SessionWatch(.init(system: address, session: BusAddress("unix:path=/nonexistent/bus")))
        bus = nil
        #expect(events(watch) == [.locked, .woke])
    }
}
