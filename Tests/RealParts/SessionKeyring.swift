import Foundation

/// A gnome-keyring of a test's own, without a screen, on a bus of its own.
package final class SessionKeyring: Sendable {
    package let bus: PrivateBus

    package static let isInstalled =
        PrivateBus.isInstalled && FileManager.default.isExecutableFile(atPath: "/usr/bin/gnome-keyring-daemon")

    package init() throws {
        bus = try PrivateBus()
        // Before anybody asks for it: the bus would start one without a keyring.
        try unlock(isFirst: true)
    }

    /// What a program of the session has in its environment.
    package var environment: [String: String] {
        bus.environment.merging([
            "HOME": bus.folder, "XDG_RUNTIME_DIR": bus.folder + "/run", "XDG_DATA_HOME": bus.folder + "/data",
            "DISPLAY": "", "WAYLAND_DISPLAY": "",
        ]) { $1 }
    }

    private func unlock(isFirst: Bool) throws {
        try bus.start(
            ["sh", "-c", "printf login | exec gnome-keyring-daemon --unlock --components=secrets --foreground"],
            environment: environment)
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
