import Foundation
import Items
import RealParts
import TestSupport
import Testing

/// The agent as the Secret Service, used by programs that nobody here wrote: secret-tool (libsecret), Python's secretstorage, and a
/// client that sends what it should not.
@Suite struct SecretServiceTests {
    private let bus: PrivateBus
    private let sandbox: AgentSandbox

    init() throws {
        bus = try PrivateBus()
        sandbox = try AgentSandbox()
    }

    /// Runs a script of the shell on the private bus; `$HOLDFAST` serves it already.
    private func run(_ script: String, unlocked: Bool = true) throws -> Sandbox.Result {
        #expect(try sandbox.run("secrets", "serve", environment: bus.environment).code == 0)
        if unlocked {
            #expect(try sandbox.run("unlock", passcode: Prepared.passcode, environment: bus.environment).code == 0)
        }
        let file = try sandbox.file(("set -u; cd \"$HOME\"\n" + script).utf8)
        return try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 }.merging(bus.environment) { $1 })
    }

    /// Python with `call(path, interface, member, signature, arguments)`, which returns the name of an error as a text, and `create`.
    private static let client = """
        import dbus
        N, S, P = 'org.freedesktop.secrets', 'org.freedesktop.Secret.', '/org/freedesktop/secrets'
        O, B, D = dbus.ObjectPath, dbus.ByteArray, P + '/aliases/default'
        one, two = [dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION) for _ in range(2)]
        def call(path, interface, member, types, arguments, bus=one):
            try: return bus.call_blocking(N, path, S + interface if interface[0] != 'o' else interface, member, types, arguments)
            except dbus.DBusException as e: return e.get_dbus_name().split('.')[-1]
        def open(bus=one): return call(P, 'Service', 'OpenSession', 'sv', ['plain', ''], bus)[1]
        def secret(session, value, parameters=b''):
            return dbus.Struct((O(session), B(parameters), B(value), 'text/plain'), signature='oayays')
        def create(session, attributes, value, label='x', parameters=b'', bus=one, path=D):
            properties = {S + 'Item.Label': label, S + 'Item.Attributes': dbus.Dictionary(attributes, signature='ss')}
            answer = call(path, 'Collection', 'CreateItem', 'a{sv}(oayays)b',
                [dbus.Dictionary(properties, signature='sv'), secret(session, value, parameters), True], bus)
            return answer if isinstance(answer, str) else str(answer[0])
        def get(item, session, bus=one):
            answer = call(item, 'Item', 'GetSecret', 'o', [O(session)], bus)
            return answer if isinstance(answer, str) else bytes(answer[2])

        """

    private func python(_ script: String, unlocked: Bool = true) throws -> Sandbox.Result {
        let file = try sandbox.file((Self.client + script).utf8)
        return try run("exec /usr/bin/python3 '\(file)'", unlocked: unlocked)
    }

    @Test func `secret-tool stores, looks up, searches and clears`() throws {
        let result = try run(
            """
            printf s3cret | secret-tool store --label='My mail' user ada server example
            secret-tool lookup user ada; echo
            secret-tool lookup user bob || echo none
            printf other | secret-tool store --label='My mail' user bob server example
            printf changed | secret-tool store --label='My mail' user ada server example
            secret-tool search --all server example 2>/dev/null | grep -E '^(label|secret) '
            "$HOLDFAST" list | cut -f2 | grep mail
            secret-tool clear user ada; secret-tool lookup user ada || echo cleared
            secret-tool lookup user bob; echo
            echo plain | "$HOLDFAST" put hidden
            secret-tool lookup server '' || echo not shown
            "$HOLDFAST" lock > /dev/null
            secret-tool lookup user bob || echo locked
            printf x | secret-tool store --label=x a b 2>&1 || true
            """)
        #expect(
            result.text == """
                s3cret
                none
                label = My mail
                secret = changed
                label = My mail (2)
                secret = other
                My mail
                My mail (2)
                cleared
                other
                not shown
                locked
                secret-tool: the vault is locked; unlock Holdfast first

                """, "\(result.text) \(result.errors)")
    }

    @Test func `secretstorage stores and reads over an encrypted session, and locks`() throws {
        let file = try sandbox.file(
            """
            import secretstorage
            bus = secretstorage.dbus_init()
            collection = secretstorage.get_default_collection(bus)
            print(collection.get_label(), collection.is_locked())
            item = collection.create_item('a label', {'k': 'v \\u00fc'}, bytes(range(256)), content_type='x/y')
            again = next(secretstorage.search_items(bus, {'k': 'v \\u00fc'}))
            print(again.get_label(), again.get_secret() == bytes(range(256)), again.get_attributes(), again.get_secret_content_type())
            for size in (0, 15, 16, 65536):
                again.set_secret(bytes([size % 251]) * size)
                print(size, again.get_secret() == bytes([size % 251]) * size)
            again.delete()
            print(len(list(collection.get_all_items())))
            collection.create_item('kept', {'k': '2'}, b'x')
            collection.lock()
            print(collection.is_locked(), list(secretstorage.search_items(bus, {})), list(collection.get_all_items()))
            """.utf8)
        let result = try run("exec /usr/bin/python3 '\(file)'")
        #expect(
            result.text == """
                default False
                a label True {'k': 'v ü'} x/y
                0 True
                15 True
                16 True
                65536 True
                0
                True [] []

                """, "\(result.text) \(result.errors)")
    }

    @Test func `sessions are one client's, end with it, and are limited`() throws {
        let result = try python(
            """
            mine = open()
            item = create(mine, {'a': 'b'}, b'value')
            print(get(item, mine), get(item, mine, two), create(mine, {'c': 'd'}, b'x', bus=two))
            print(call(mine, 'Session', 'Close', '', [], two), call(mine, 'Session', 'Close', '', []), get(item, mine))
            print([str(call(P, 'Service', 'OpenSession', 'sv', ['plain', ''], two))[:6] for _ in range(17)].count('Limits'))
            def fill():
                buses = [dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION) for _ in range(3)]
                for bus in buses:
                    for _ in range(16): open(bus)
                print(call(P, 'Service', 'OpenSession', 'sv', ['plain', '']))
                for bus in buses: bus.close()
            fill()
            while call(P, 'Service', 'OpenSession', 'sv', ['plain', '']) == 'LimitsExceeded': pass
            print(get(item, open()))
            """)
        #expect(
            result.text == """
                b'value' NoSession NoSession
                NoSession None NoSession
                1
                LimitsExceeded
                b'value'

                """, "\(result.text) \(result.errors)")
    }

    @Test func `what is too large or of another type is refused, and what is no item of it is not shown`() throws {
        let result = try python(
            """
            import subprocess, os
            print(call(P, 'Service', 'OpenSession', 's', ['plain']), call(P, 'Service', 'SearchItems', 'as', [['a']]),
                call('/', 'Service', 'SearchItems', 'a{ss}', [{}]), call(P, 'Service', 'Other', '', []),
                call(P, 'Service', 'OpenSession', 'sv', ['rot13', '']))
            dh = 'dh-ietf1024-sha256-aes128-cbc-pkcs7'
            print({call(P, 'Service', 'OpenSession', 'sv', [dh, x]) for x in
                ('', dbus.UInt32(3), B(b''), B(b'\\1'), B(b'\\xff' * 128), B(b'\\2' * 129))})
            mine = open()
            print(create(mine, {'n': '1'}, b'x' * 65536, 'large'), create(mine, {'n': '2'}, b'x' * 65537, 'larger'))
            print(create(mine, {str(i): '' for i in range(64)}, b'', 'many'), create(mine, {str(i): '' for i in range(65)}, b''))
            print({create(mine, a, b'') for a in ({'n': 'v' * 1025}, {'n' * 256: ''}, {'': ''})},
                create(mine, {}, b'', 'l' * 1025), create(mine, {}, b'', parameters=b'1'),
                create(mine, {}, b'', path=P), create(mine, {}, b'', path=P + '/aliases/other'))
            for wrong in ({S + 'Item.Label': dbus.UInt32(4)}, {S + 'Item.Attributes': dbus.Array(['x'], signature='s')}):
                print(call(D, 'Collection', 'CreateItem', 'a{sv}(oayays)b',
                    [dbus.Dictionary(wrong, signature='sv'), secret(mine, b''), True]))
            subprocess.run([os.environ['HOLDFAST'], 'put', 'hidden'], input=b'x')
            hidden = P + '/collection/default/hidden'
            print(get(hidden, mine), call(hidden, 'Item', 'Delete', '', []), call(hidden, 'Item', 'SetSecret', '(oayays)', [secret(mine, b'')]))
            nested = dbus.String('x', variant_level=50)
            print(call(P, 'Service', 'OpenSession', 'sv', [dh, nested]),
                call(P, 'Service', 'CreateCollection', 'a{sv}s', [dbus.Dictionary({'x': nested}, signature='sv'), '']))
            """)
        #expect(
            result.text == """
                InvalidArgs InvalidArgs UnknownObject UnknownMethod NotSupported
                {'InvalidArgs'}
                /org/freedesktop/secrets/collection/default/large InvalidArgs
                /org/freedesktop/secrets/collection/default/many InvalidArgs
                {'InvalidArgs'} InvalidArgs InvalidArgs UnknownMethod NoSuchObject
                InvalidArgs
                InvalidArgs
                NoSuchObject NoSuchObject NoSuchObject
                InvalidArgs InvalidArgs

                """, "\(result.text) \(result.errors)")
    }

    @Test func `an item that asks is not given`() throws {
        let result = try run(
            """
            printf first | secret-tool store --label=asked a 1; printf second | secret-tool store --label=free a 2
            "$HOLDFAST" tag add asked ask-each-time > /dev/null
            secret-tool lookup a 1 2>&1; secret-tool lookup a 2
            """)
        #expect(
            result.text == "secret-tool: the item is to be asked for, which this program cannot have done\nsecond",
            "\(result.text) \(result.errors)")
    }

    @Test func `one process has the name, and it goes with the agent`() throws {
        let result = try python("print(call(P, 'Service', 'ReadAlias', 's', ['default']))", unlocked: false)
        #expect(result.text == "/org/freedesktop/secrets/collection/default\n", "\(result.text) \(result.errors)")
        let first = try #require(try sandbox.agent()?["process"] as? Int)
        let other = try AgentSandbox()
        let refused = try other.run("secrets", "serve", environment: bus.environment)
        #expect(refused.code != 0)
        #expect(refused.errors.contains("process \(first)"))
        #expect(try sandbox.run("lock", "--shut-down").code == 0)
        #expect(throws: (any Error).self) { try bus.owner(of: "org.freedesktop.secrets") }
        #expect(try other.run("secrets", "serve", environment: bus.environment).code == 0)
    }
}
