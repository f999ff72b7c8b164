import Foundation
import RealParts
import TestSupport
import Testing

/// Programs of the session bus that keep their sessions of the Secret Service: one over an encrypted session (Python's
/// secretstorage), one over a plain one. Ended with this object.
final class BusPrograms {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let lines: LineReader

    private static let script = """
        import dbus, secretstorage, sys
        N, S, P = 'org.freedesktop.secrets', 'org.freedesktop.Secret.', '/org/freedesktop/secrets'
        D = P + '/aliases/default'
        secure = secretstorage.dbus_init()
        plain = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION)
        def call(path, interface, member, types, *arguments): return plain.call_blocking(N, path, S + interface, member, types, arguments)
        session = dbus.ObjectPath(call(P, 'Service', 'OpenSession', 'sv', 'plain', '')[1])
        def use_secure(label, attribute, value, other):
            collection = secretstorage.get_default_collection(secure)
            collection.create_item(label, {'name': attribute}, value.encode(), replace=True)
            item, = secretstorage.search_items(secure, {'name': attribute})
            assert item.get_label() == label and item.get_secret() == value.encode()
            item.set_secret(other.encode())
            assert item.get_secret() == other.encode() and item.get_attributes() == {'name': attribute}
        def use_plain(label, attribute, value, other):
            attributes = dbus.Dictionary({'name': attribute}, signature='ss')
            properties = dbus.Dictionary({S + 'Item.Label': label, S + 'Item.Attributes': attributes}, signature='sv')
            secret = lambda v: dbus.Struct((session, dbus.ByteArray(b''), dbus.ByteArray(v.encode()), 'text/plain'), signature='oayays')
            call(D, 'Collection', 'CreateItem', 'a{sv}(oayays)b', properties, secret(value), True)
            (item,), _ = call(P, 'Service', 'SearchItems', 'a{ss}', attributes)
            assert bytes(call(item, 'Item', 'GetSecret', 'o', session)[2]).decode() == value
            call(item, 'Item', 'SetSecret', '(oayays)', secret(other))
            (found,) = call(P, 'Service', 'GetSecrets', 'aoo', [item], session).values()
            assert bytes(found[2]).decode() == other
        def keep(label, attribute, value):
            properties = dbus.Dictionary({S + 'Item.Label': label, S + 'Item.Attributes': dbus.Dictionary({'name': attribute}, signature='ss')},
                signature='sv')
            secret = dbus.Struct((session, dbus.ByteArray(b''), dbus.ByteArray(value.encode()), 'text/plain'), signature='oayays')
            call(P + '/aliases/session', 'Collection', 'CreateItem', 'a{sv}(oayays)b', properties, secret, False)
        def unlock(attribute):
            # What a search of a locked vault gives has the question in its path.
            secretstorage.get_default_collection(secure).unlock()
            assert list(secretstorage.search_items(secure, {'name': attribute})) == []
        def search(attribute):
            call(P, 'Service', 'SearchItems', 'a{ss}', dbus.Dictionary({'name': attribute}, signature='ss'))
        print('ready', flush=True)
        for line in sys.stdin:
            word, *rest = line.split()
            globals()[word](*rest)
            print('done', flush=True)
        """

    /// - Parameter script: Says `ready`, and a line for each that it is told: what it is called, and with what words.
    init(_ bus: PrivateBus, _ script: String = script) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", script]
        process.environment = ProcessInfo.processInfo.environment.merging(bus.environment) { $1 }
        (process.standardInput, process.standardOutput) = (input, output)
        lines = LineReader(output.fileHandleForReading)
        try process.run()
        try #require(lines.next() == "ready")
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func tell(_ words: String...) throws {
        try begin(words)
        try finish()
    }

    /// Begins what takes until somebody answers.
    func begin(_ words: String...) throws { try begin(words) }

    private func begin(_ words: [String]) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((words.joined(separator: " ") + "\n").utf8))
    }

    /// What the script says to this.
    func ask(_ words: String...) throws -> String? {
        try begin(words)
        return lines.next()
    }

    func finish() throws { try #require(lines.next() == "done") }
}
