import Foundation
import Synchronization

/// A gnome-keyring of a test's own, without a screen, on a bus of its own.
package final class SessionKeyring: Sendable {
    package let bus: PrivateBus
    private let daemon = Mutex<Spawned?>(nil)

    package static let isInstalled =
        PrivateBus.isInstalled && FileManager.default.isExecutableFile(atPath: "/usr/bin/gnome-keyring-daemon")

    package init() throws {
        bus = try PrivateBus()
        // Before anybody asks for it: the bus would start one without a keyring.
        try start()
    }

    /// What a program of the session has in its environment.
    package var environment: [String: String] {
        bus.environment.merging([
            "HOME": bus.folder, "XDG_RUNTIME_DIR": bus.folder + "/run", "XDG_DATA_HOME": bus.folder + "/data",
            "DISPLAY": "", "WAYLAND_DISPLAY": "",
        ]) { $1 }
    }

    /// Starts the program with the keyring unlocked.
    package func start() throws {
        // From a file: at the end of a pipe the program would be a child of the shell, which alone would be ended.
        let password = bus.folder + "/password"
        try "login".write(toFile: password, atomically: true, encoding: .utf8)
        let started = try bus.start(
            ["sh", "-c", "exec gnome-keyring-daemon --unlock --components=secrets --foreground < \(password)"],
            environment: environment)
        daemon.withLock { $0 = started }
        try bus.waitForOwner("org.freedesktop.secrets")
        try bus.wait("the keyring") { (try? state())?.contains("0") ?? false }
    }

    private func state() throws -> String {
        try bus.python(
            """
            s = bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets')
            c = dbus.Interface(s, 'org.freedesktop.Secret.Service').ReadAlias('default')
            o = bus.get_object('org.freedesktop.secrets', c)
            print(int(dbus.Interface(o, 'org.freedesktop.DBus.Properties').Get('org.freedesktop.Secret.Collection', 'Locked')))
            """)
    }

    /// Ends the program, as a logout does.
    package func stop() throws {
        daemon.withLock { daemon in
            daemon?.end(SIGTERM)
            daemon = nil
        }
        try bus.wait("the end of the keyring") { (try? bus.owner(of: "org.freedesktop.secrets")) == nil }
    }

    /// The files that the keyrings lie in.
    package var files: String { bus.folder + "/data/keyrings" }

    /// Another program in the keyring's place: it has a keyring, unlocked and empty, or names it many times.
    package func startAnother(named times: Int = 1) throws {
        try bus.start([
            "/usr/bin/python3", "-c",
            """
            import dbus, dbus.service, dbus.mainloop.glib
            from gi.repository import GLib
            dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
            bus = dbus.bus.BusConnection('\(bus.address)')
            S, C, P = 'org.freedesktop.Secret.Service', 'org.freedesktop.Secret.Collection', dbus.PROPERTIES_IFACE
            ROOT = '/org/freedesktop/secrets'
            class Collection(dbus.service.Object):
                @dbus.service.method(P, in_signature='s', out_signature='a{sv}')
                def GetAll(self, interface):
                    return {'Items': dbus.Array([], signature='o'), 'Label': 'Other', 'Locked': False,
                            'Created': dbus.UInt64(0), 'Modified': dbus.UInt64(0)}
            class Service(dbus.service.Object):
                @dbus.service.method(P, in_signature='s', out_signature='a{sv}')
                def GetAll(self, interface):
                    return {'Collections': dbus.Array([ROOT + '/collection/other'] * \(times), signature='o')}
                @dbus.service.method(S, in_signature='sv', out_signature='vo')
                def OpenSession(self, algorithm, given):
                    if algorithm != 'plain':
                        raise dbus.DBusException('no', name='org.freedesktop.DBus.Error.NotSupported')
                    return dbus.String('', variant_level=1), dbus.ObjectPath(ROOT + '/session/1')
                @dbus.service.method(S, in_signature='a{ss}', out_signature='aoao')
                def SearchItems(self, attributes):
                    return dbus.Array([], signature='o'), dbus.Array([], signature='o')
                @dbus.service.method(S, in_signature='s', out_signature='o')
                def ReadAlias(self, name):
                    return dbus.ObjectPath(ROOT + '/collection/other')
            class Session(dbus.service.Object):
                @dbus.service.method('org.freedesktop.Secret.Session')
                def Close(self):
                    pass
            objects = [Service(bus, ROOT), Collection(bus, ROOT + '/collection/other'), Session(bus, ROOT + '/session/1')]
            bus.request_name('org.freedesktop.secrets')
            GLib.MainLoop().run()
            """,
        ])
        try bus.waitForOwner("org.freedesktop.secrets")
    }

    /// Starts a program in the keyring's place that does not come to an end: silent at a call (`collections`,
    /// `session`, `collection`, `item`, `secret`), with more items than anybody waits for (`endless`), or with a prompt
    /// that nobody answers, while it asks the client something all the time (`prompt`).
    package func startStuck(_ place: String) throws {
        try bus.start([
            "/usr/bin/python3", "-c",
            """
            import dbus, dbus.lowlevel as low, dbus.mainloop.glib
            from gi.repository import GLib
            dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
            bus, place, O = dbus.bus.BusConnection('\(bus.address)'), '\(place)', dbus.ObjectPath
            ROOT = '/org/freedesktop/secrets'
            silent = {'collections': ('GetAll', ROOT), 'session': ('OpenSession', ROOT), 'collection': ('GetAll', '/c'),
                'item': ('GetAll', '/i'), 'secret': ('GetSecret', '/i')}.get(place)
            objects = {ROOT: {'Collections': dbus.Array([O('/c')], 'o')},
                '/c': {'Label': 'L', 'Locked': place == 'prompt',
                    'Items': dbus.Array([O('/i')] * (100000 if place == 'endless' else 1), 'o')},
                '/i': {'Label': 'L', 'Locked': place == 'endless'}}
            def ask(client):
                bus.send_message(low.MethodCallMessage(client, '/', 'org.freedesktop.DBus.Peer', 'Ping'))
                return True
            def take(_, message):
                if message.get_type() != low.MESSAGE_TYPE_METHOD_CALL: return low.HANDLER_RESULT_NOT_YET_HANDLED
                member, path = message.get_member(), message.get_path()
                if (member, path) == silent: return low.HANDLER_RESULT_HANDLED
                types, values = {'GetAll': ('a{sv}', [objects.get(path)]), 'ReadAlias': ('o', [O('/c')]),
                    'OpenSession': ('vo', [dbus.ByteArray(b'\\4' * 128), O('/s')]),
                    'Unlock': ('aoo', [dbus.Array([], 'o'), O('/p')]), 'Prompt': ('', [])}[member]
                reply = low.MethodReturnMessage(message)
                reply.append(*values, signature=types)
                bus.send_message(reply)
                if member == 'Prompt': GLib.idle_add(ask, message.get_sender())
                return low.HANDLER_RESULT_HANDLED
            bus.add_message_filter(take)
            bus.request_name('org.freedesktop.secrets')
            GLib.MainLoop().run()
            """,
        ])
        try bus.waitForOwner("org.freedesktop.secrets")
    }

    /// Whether ``startAnother()`` can be played here.
    package static let canPlayAnother =
        FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/dbus/__init__.py")
        && FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/gi/__init__.py")

    /// Locks the keyring.
    package func lock() throws {
        try bus.python(
            """
            s = bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets')
            i = dbus.Interface(s, 'org.freedesktop.Secret.Service')
            i.Lock([i.ReadAlias('default')])
            """)
    }
}
