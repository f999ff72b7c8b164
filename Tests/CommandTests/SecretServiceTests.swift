import Foundation
import Items
import RealParts
import TestSupport
import Testing

/// The agent as the Secret Service, used by programs that nobody here wrote: secret-tool (libsecret), Python's
/// secretstorage, and a client that sends what it should not.
@Suite struct SecretServiceTests {
    let bus: PrivateBus
    let sandbox: AgentSandbox

    init() throws {
        bus = try PrivateBus()
        sandbox = try AgentSandbox()
    }

    /// Runs a script of the shell on the private bus; `$HOLDFAST` serves it already.
    func run(_ script: String, unlocked: Bool = true) throws -> Sandbox.Result {
        #expect(try sandbox.run("secrets", "serve", environment: bus.environment).code == 0)
        if unlocked {
            #expect(try sandbox.run("unlock", passcode: Prepared.passcode, environment: bus.environment).code == 0)
        }
        let file = try sandbox.file(("set -u; cd \"$HOME\"\n" + script).utf8)
        return try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 }.merging(bus.environment) { $1 })
    }

    /// Python with `call(path, interface, member, signature, arguments)`, which returns the name of an error as a text,
    /// and `create`.
    static let client = """
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

    func python(_ script: String, unlocked: Bool = true) throws -> Sandbox.Result {
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
            "$HOLDFAST" list --long | cut -f2 | grep mail
            secret-tool clear user ada; secret-tool lookup user ada || echo cleared
            secret-tool lookup user bob; echo
            echo plain | "$HOLDFAST" put hidden
            secret-tool lookup server '' || echo not shown
            "$HOLDFAST" lock > /dev/null
            secret-tool lookup user bob || echo locked
            printf x | secret-tool store --label=x a b 2>&1 || echo not stored
            """)
        #expect(
            result.text == """
                s3cret
                none
                label = My mail
                secret = changed
                label = My mail
                secret = other
                My mail
                My mail (2)
                cleared
                other
                not shown
                locked
                secret-tool: the vault is locked; unlock Holdfast first
                not stored

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
            print([str(call(P, 'Service', 'OpenSession', 'sv', ['plain', ''], two))[:6] for _ in range(17)].count('Limits'), flush=True)
            import os
            mine = open()
            if os.fork() == 0:
                greedy = [dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION) for _ in range(4)]
                sessions = [[open(bus) for _ in range(16)] for bus in greedy]
                print(get(item, sessions[3][15], greedy[3]), get(item, sessions[0][0], greedy[0]), flush=True)
                os._exit(0)
            os.wait()
            print(get(item, mine))
            """)
        #expect(
            result.text == """
                b'value' NoSession NoSession
                NoSession None NoSession
                1
                b'value' NoSession
                b'value'

                """, "\(result.text) \(result.errors)")
    }

    @Test func `a thousand clients, most of them silent, keep nobody out`() throws {
        let result = try python(
            """
            import resource
            limit = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, limit[1]), limit[1]))
            crowd = [dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION) for _ in range(1000)]
            print(len([bus for bus in crowd if open(bus)]))
            mine = open()
            item = create(mine, {'a': 'b'}, b'value')
            print(get(item, mine), get(item, open(crowd[0]), crowd[0]))
            """)
        #expect(result.text == "1000\nb'value' b'value'\n", "\(result.text) \(result.errors)")
    }

    @Test(.seeded) func `calls at random are refused, whatever they hold, and the agent serves on`() throws {
        let seed = TestRun.seed
        let result = try python(
            """
            import random
            random.seed(\(seed))
            mine = open()
            item = create(mine, {'a': 'b'}, b'value')
            texts = ['', 'x', 'default', 'plain', 'Label', P, S + 'Item', S + 'Collection', 'x' * 300, '\\u00fc' * 90]
            paths = [P, D, '/', mine, item, P + '/collection', P + '/session/9', P + '/prompt/1', P + '/found/a', P + '/collection/_/_zz',
                P + '/collection/default/none']
            members = {'Service': ['OpenSession', 'SearchItems', 'Unlock', 'GetSecrets', 'ReadAlias', 'SetAlias', 'CreateCollection'],
                'Collection': ['SearchItems', 'CreateItem', 'Delete'], 'Item': ['GetSecret', 'SetSecret', 'Delete'],
                'Session': ['Close'], 'Prompt': ['Prompt', 'Dismiss']}
            types = ['s', 'o', 'as', 'ao', 'v', 'a{ss}', 'a{sv}', '(oayays)', 'b', 'ay', 'u', 'aao', '(s)']
            def value(t):
                if t == 's': return random.choice(texts)
                if t == 'o': return O(random.choice(paths))
                if t == 'b': return random.random() < 0.5
                if t == 'u': return dbus.UInt32(random.getrandbits(32))
                if t == 'ay': return B(random.randbytes(random.choice([0, 1, 15, 16, 17, 300])))
                if t == 'v': return random.choice([dbus.String('x', variant_level=random.randint(1, 30)), dbus.UInt32(1), dbus.Array([], signature='s')])
                if t == '(s)': return dbus.Struct((random.choice(texts),), signature='s')
                if t == '(oayays)': return dbus.Struct((O(random.choice(paths)), value('ay'), value('ay'), random.choice(texts)), signature='oayays')
                if t == 'a{ss}': return dbus.Dictionary({random.choice(texts): random.choice(texts) for _ in range(random.randint(0, 5))}, signature='ss')
                if t == 'a{sv}': return dbus.Dictionary({random.choice(texts): value('v') for _ in range(random.randint(0, 5))}, signature='sv')
                return dbus.Array([value(t[1:]) for _ in range(random.randint(0, 5))], signature=t[1:])
            told = set()
            for _ in range(300):
                interface = random.choice(list(members))
                chosen = [random.choice(types) for _ in range(random.randint(0, 3))]
                if random.random() < 0.5: chosen = random.choice([['s', 'v'], ['a{ss}'], ['ao', 'o'], ['o'], ['(oayays)'], [], ['a{sv}', '(oayays)', 'b']])
                answer = call(random.choice(paths), interface, random.choice(members[interface]), ''.join(chosen), [value(t) for t in chosen])
                if type(answer) is str: told.add(answer)
            print(told <= {'InvalidArgs', 'UnknownMethod', 'UnknownObject', 'NoSuchObject', 'NoSession', 'NotSupported', 'Failed', 'IsLocked',
                'LimitsExceeded'} or told)
            again = open(two)
            print(get(create(again, {'c': 'd'}, b'new', label='another', bus=two), again, two))
            """)
        #expect(result.text == "True\nb'new'\n", "seed \(seed): \(result.text) \(result.errors)")
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
            print(create(mine, {'n': '1'}, b'x' * 65536, 'large'), create(mine, {'n': '2'}, b'x' * (4194304 + 17), 'larger'),
                create(mine, {'n': '2'}, b'x' * (4194304 + 1), 'larger'))
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
                /org/freedesktop/secrets/collection/default/large InvalidArgs LimitsExceeded
                /org/freedesktop/secrets/collection/default/many InvalidArgs
                {'InvalidArgs'} InvalidArgs InvalidArgs UnknownMethod NoSuchObject
                InvalidArgs
                InvalidArgs
                NoSuchObject NoSuchObject NoSuchObject
                InvalidArgs InvalidArgs

                """, "\(result.text) \(result.errors)")
    }

    /// libsystemd would look at every byte of what is left out, while nobody else is answered.
    @Test func `a property that nobody knows is left out, and refused with too many values inside`() throws {
        let result = try python(
            """
            mine, A, Y = open(), dbus.Array, dbus.Dictionary
            def put(label, unknown):
                answer = call(D, 'Collection', 'CreateItem', 'a{sv}(oayays)b',
                    [Y({'x': unknown, S + 'Item.Label': label}, signature='sv'), secret(mine, b'v'), False])
                return answer if isinstance(answer, str) else answer[0].split('/')[-1]
            deep = dbus.Struct((O('/'), B(b'x'), dbus.String('y', variant_level=3), True, dbus.Int16(1)), signature='oayvbn')
            print(put('bytes', B(bytes(4 << 20))), put('flags', A([True] * 70000, signature='b')), put('none', A([], signature='as')),
                put('deep', A([A([deep, deep], signature='(oayvbn)')], signature='a(oayvbn)')),
                put('names', Y({'a': Y({'b': B(b'')}, signature='sv')}, signature='sa{sv}')),
                put('many', A([''] * 65534, signature='s')), put('more', A([''] * 65535, signature='s')))
            """)
        #expect(result.text == "bytes flags none deep names many InvalidArgs\n", "\(result.text) \(result.errors)")
    }

    @Test func `a program plants no password for git, and none that a reference reads`() throws {
        let result = try python(
            """
            import os, subprocess
            def run(*words, input=''):
                done = subprocess.run([os.environ['HOLDFAST'], *words], input=input, capture_output=True, text=True)
                return done.stdout.strip() or done.stderr.strip()
            address = 'protocol=https\\nhost=h\\n'
            run('git-credential', 'store', input=address + 'username=ada\\npassword=mine\\n')
            s, git = open(), P + '/collection/git'
            print(create(s, {'a': 'b'}, b'planted', 'https://eve@h', path=git) == git + '/https_3a_2d_2deve_40h')
            # It gets no name with a slash by itself; versions before gave it one.
            run('mv', 'git/https:--eve@h', 'git/https://eve@h')
            print(run('git-credential', 'get', input=address).split())
            print('secret-service' in run('run', '--env', 'A=holdfast://git/https:%2F%2Feve@h', '--', 'printenv', 'A'))
            print('session bus' in run('git-credential', 'store', input=address + 'username=eve\\npassword=new\\n'))
            print(get(git + '/https_3a_2f_2feve_40h', s))
            """)
        #expect(
            result.text == "True\n['username=ada', 'password=mine']\nTrue\nTrue\nb'planted'\n",
            "\(result.text) \(result.errors)")
    }

    @Test func `labels and attributes are changed, and the item's path stays`() throws {
        let result = try run(
            #"""
            cat > change.py <<'END'
            import secretstorage as s
            bus = s.dbus_init()
            items = [s.get_default_collection(bus).create_item('Mail', {'k': k}, k.encode()) for k in 'ab']
            print([item.get_label() for item in items])
            items[1].set_label('Second'); items[1].set_attributes({'k': 'c', 'l': '\u00fc'})
            found, = s.search_items(bus, {'l': '\u00fc'})
            print(found.item_path == items[1].item_path, found.get_label(), sorted(found.get_attributes().items()), found.get_secret())
            print(len(list(s.search_items(bus, {'k': 'b'}))))
            s.get_default_collection(bus).create_item('Third', {'k': 'c', 'l': '\u00fc'}, b'new', replace=True)
            print(items[1].get_label(), items[1].get_secret())
            END
            /usr/bin/python3 change.py; "$HOLDFAST" list --long | cut -f2 | grep Mail
            """#)
        #expect(
            result.text == """
                ['Mail', 'Mail']
                True Second [('k', 'c'), ('l', 'ü')] b'b'
                0
                Third b'new'
                Mail
                Mail (2)

                """, "\(result.text) \(result.errors)")
    }

    @Test func `what another program may not change is refused`() throws {
        let result = try python(
            """
            import subprocess, os
            item = create(open(), {'a': 'b'}, b'x')
            subprocess.run([os.environ['HOLDFAST'], 'put', 'hidden'], input=b'x')
            def put(path, name, value, interface='Item'):
                return call(path, 'org.freedesktop.DBus.Properties', 'Set', 'ssv', [S + interface, name, value])
            A = lambda **v: dbus.Dictionary(v, signature='ss')
            print(put(item, 'Locked', True), put(item, 'Created', dbus.UInt64(1)), put(D, 'Label', 'x', 'Collection'),
                put(P, 'Collections', dbus.Array([], signature='o'), 'Service'), put(item, 'Label', 'x', 'Service'))
            print(put(P + '/collection/default/hidden', 'Label', 'x'), put(P + '/collection/default/none', 'Attributes', A(a='b')))
            print(put(item, 'Label', dbus.UInt32(1)), put(item, 'Label', ''), put(item, 'Label', 'l' * 1025),
                put(item, 'Attributes', 'x'), put(item, 'Attributes', A(**{'n': 'v' * 1025})))
            print(put(item, 'Label', 'l' * 1024), put(item, 'Attributes', A(a='c')))
            subprocess.run([os.environ['HOLDFAST'], 'lock'], stdout=subprocess.DEVNULL)
            print(put(item, 'Label', 'x'))
            """)
        #expect(
            result.text == """
                PropertyReadOnly PropertyReadOnly PropertyReadOnly PropertyReadOnly PropertyReadOnly
                NoSuchObject NoSuchObject
                InvalidArgs InvalidArgs InvalidArgs InvalidArgs InvalidArgs
                None None
                IsLocked

                """, "\(result.text) \(result.errors)")
    }

    @Test func `signals are for clients that have a session`() throws {
        let result = try python(
            """
            import subprocess, os
            from dbus.mainloop.glib import DBusGMainLoop
            from gi.repository import GLib
            def listen():
                bus, seen = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION, mainloop=DBusGMainLoop()), []
                def take(*values, member, path):
                    line = ' '.join([member, path[len(P):]] + [str(v) for v in values])
                    # A look at everything that began meanwhile may tell of a change again.
                    again = member == 'ItemChanged' and seen[-1:] == [line]
                    if path.startswith(P) and not again: seen.append(line)
                bus.add_signal_receiver(take, member_keyword='member', path_keyword='path')
                return bus, seen
            (mine, seen), (other, none) = listen(), listen()
            open(mine)
            item = create(open(), {'a': 'b'}, b'x', label='new')
            call(item, 'Item', 'SetSecret', '(oayays)', [secret(open(), b'y')])
            call(item, 'org.freedesktop.DBus.Properties', 'Set', 'ssv', [S + 'Item', 'Label', 'l'])
            call(item, 'Item', 'Delete', '', [])
            subprocess.run([os.environ['HOLDFAST'], 'lock'], stdout=subprocess.DEVNULL)
            while len(seen) < 9: GLib.MainContext.default().iteration(True)
            call(P, 'Service', 'ReadAlias', 's', ['default'], other)
            while GLib.MainContext.default().iteration(False): pass
            print('\\n'.join(seen), none)
            """)
        let first = "/collection/default /org/freedesktop/secrets/collection/default/new"
        func changed(_ interface: String, _ name: String, _ value: String) -> String {
            "org.freedesktop.Secret.\(interface) dbus.Dictionary({dbus.String(\(name)): dbus.\(value), "
                + "variant_level=1)}, signature=dbus.Signature('sv')) dbus.Array([], signature=dbus.Signature('s'))"
        }
        #expect(
            result.text == """
                ItemCreated \(first)
                ItemChanged \(first)
                PropertiesChanged /collection/default/new \(changed("Item", "'Label'", "String('l'"))
                ItemChanged \(first)
                ItemDeleted \(first)
                PropertiesChanged /collection/default \(changed("Collection", "'Locked'", "Boolean(True"))
                CollectionChanged  /org/freedesktop/secrets/collection/default
                PropertiesChanged /collection/session \(changed("Collection", "'Locked'", "Boolean(True"))
                CollectionChanged  /org/freedesktop/secrets/collection/session []

                """, "\(result.text) \(result.errors)")
    }

    @Test func `an agent that was started for it waits for the name, and serves everything else`() throws {
        let first = try AgentSandbox()
        #expect(try first.run("secrets", "serve", environment: bus.environment).code == 0)
        let owner = try bus.owner(of: "org.freedesktop.secrets")
        let told = sandbox.path + "/told"
        let agent = try Child(
            raw: ["agent", "--ssh", "--secret-service"].map { Array($0.utf8) }, descriptors: [2: .output(told)],
            environment: sandbox.variables.merging(bus.environment) { $1 })
        let isServing = Patience.wait { !agent.isRunning || (try? sandbox.agent()) ?? nil != nil }
        try #require(isServing && agent.isRunning)
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode, environment: bus.environment).code == 0)
        let process = try #require(try first.agent()?["process"] as? Int)
        let words = try String(contentsOfFile: told, encoding: .utf8)
        #expect(words.contains("process \(process)") && words.contains("when that ends"), "\(words)")
        let refused = try sandbox.run("secrets", "serve", environment: bus.environment)
        #expect(refused.code != 0 && refused.errors.contains("process \(process)"), "\(refused.errors)")
        #expect(try bus.owner(of: "org.freedesktop.secrets") == owner)
        #expect(try first.run("lock", "--shut-down").code == 0)
        try bus.wait("the agent that waited") {
            (try? bus.owner(of: "org.freedesktop.secrets")).map { $0 != owner } ?? false
        }
        #expect(try sandbox.run("secrets", "serve", environment: bus.environment).code == 0)
        let found = try run("printf s3cret | secret-tool store --label=x a b; secret-tool lookup a b")
        #expect(found.text == "s3cret", "\(found.text) \(found.errors)")
        #expect(try sandbox.run("lock", "--shut-down").code == 0 && agent.wait() == 0)
    }

    @Test func `without a session bus the agent serves everything else`() throws {
        let told = sandbox.path + "/told"
        let agent = try Child(
            raw: ["agent", "--secret-service"].map { Array($0.utf8) }, descriptors: [2: .output(told)],
            environment: sandbox.variables.merging(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"]) { $1 })
        let isServing = Patience.wait { !agent.isRunning || (try? sandbox.agent()) ?? nil != nil }
        try #require(isServing && agent.isRunning)
        #expect(try String(contentsOfFile: told, encoding: .utf8).contains("session bus cannot be used"))
        #expect(try sandbox.run("lock", "--shut-down").code == 0 && agent.wait() == 0)
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
