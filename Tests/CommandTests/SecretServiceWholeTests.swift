import Foundation
import Items
import RealParts
import TestSupport
import Testing

/// The rest of the Secret Service: what is kept in memory, large secrets, what programs hear of other faces, and what
/// objects say of themselves.
@Suite struct SecretServiceWholeTests {
    private let service: SecretServiceTests

    init() throws { service = try SecretServiceTests() }

    @Test func `the collection session is in memory, for all programs, until the lock`() throws {
        _ = try service.sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let result = try service.run(
            #"""
            printf once | secret-tool store --collection=session --label='For now' user ada
            secret-tool lookup user ada; echo
            printf again | secret-tool store --collection=session --label='For now' user ada
            secret-tool search --all user ada 2>/dev/null | grep -E '^(label|secret) '
            "$HOLDFAST" list | grep -c 'For now'
            cat > session.py <<'END'
            import secretstorage as s
            from secretstorage.collection import Collection, SESSION_COLLECTION
            bus = s.dbus_init()
            session = Collection(bus, SESSION_COLLECTION)
            print(session.get_label(), session.is_locked(), [c.get_label() for c in s.get_all_collections(bus)])
            item, = session.get_all_items()
            item.set_label('Later'); item.set_attributes({'user': 'bob'}); item.set_secret(b'third')
            print([(i.get_label(), i.get_attributes(), i.get_secret()) for i in s.search_items(bus, {'user': 'bob'})])
            other = session.create_item('Second', {'user': 'eve'}, b'x' * 65536)
            print(len(other.get_secret()), other.item_path)
            other.delete()
            print(len(list(session.get_all_items())))
            for size, count in ((65537, 1), (65000, 17), (1, 300)):
                made = 0
                try:
                    for n in range(count): session.create_item('n', {'n': str(n)}, b'x' * size); made += 1
                except Exception as e: print(type(e).__name__, made)
                for i in session.search_items({}):
                    if i.get_label() == 'n': i.delete()
            END
            /usr/bin/python3 session.py
            printf kept | secret-tool store --label=Kept user eve
            "$HOLDFAST" lock > /dev/null
            printf x | secret-tool store --collection=session --label=x a b 2> /dev/null || echo locked
            "$HOLDFAST" unlock --passcode-fd 5 5< passcode > /dev/null
            secret-tool lookup user bob || echo gone
            secret-tool lookup user eve
            """#)
        #expect(
            result.text == """
                once
                label = For now
                secret = again
                0
                session False ['default', 'session']
                [('Later', {'user': 'bob'}, b'third')]
                65536 /org/freedesktop/secrets/collection/session/2
                1
                DBusErrorResponse 0
                DBusErrorResponse 16
                DBusErrorResponse 255
                locked
                gone
                kept
                """, "\(result.text) \(result.errors)")
    }

    @Test func `a folder of the vault that is called session is another collection`() throws {
        let result = try service.python(
            """
            import os, subprocess
            mine = open()
            folder = P + '/collection/_73ession'
            print(create(mine, {'a': 'b'}, b'stored', 'label', path=folder))
            print(create(mine, {'a': 'b'}, b'kept', 'label', path=P + '/aliases/session'))
            print(get(folder + '/label', mine), get(P + '/collection/session/1', mine), get(P + '/collection/session/9', mine))
            print(subprocess.run([os.environ['HOLDFAST'], 'list'], capture_output=True, text=True).stdout.count('session/label'))
            """)
        #expect(
            result.text == """
                /org/freedesktop/secrets/collection/_73ession/label
                /org/freedesktop/secrets/collection/session/1
                b'stored' b'kept' NoSuchObject
                1

                """, "\(result.text) \(result.errors)")
    }

    @Test func `secrets have up to 4 MiB, plain and encrypted, and one large one is on its way at a time`() throws {
        let result = try service.python(
            """
            import hashlib, os, subprocess
            import sys; sys.path += ['/usr/lib/python3/dist-packages']
            import secretstorage as s
            bus = s.dbus_init()
            c = s.get_default_collection(bus)
            def value(size): return hashlib.shake_128(str(size).encode()).digest(size)
            item = c.create_item('Large', {'n': 'large'}, b'small')
            mine = open()
            for size in (65537, 786432, 786433, 1048577, 4194304, 100):
                item.set_secret(value(size))
                print(size, item.get_secret() == value(size), get(item.item_path, mine) == value(size))
            c.create_item('Large', {'n': 'large'}, value(4194304), replace=True)
            second = c.create_item('Second', {'n': 'large'}, value(3000000), replace=False)
            print(second.get_secret() == value(3000000), item.get_secret() == value(4194304))
            def run(*words): return subprocess.run([os.environ['HOLDFAST'], *words], capture_output=True, text=True).stdout
            def names(): return [line.split()[0].split('/')[0] for line in run('list').splitlines() if line[0] not in 'fg']
            print(names())
            print('4194304 bytes in secret-service/' in run('show', 'Large'))
            # Two are too much for one call.
            print(call(P, 'Service', 'GetSecrets', 'aoo', [[O(item.item_path), O(second.item_path)], O(mine)]))
            second.delete()
            print(len(names()), get(item.item_path, mine) == value(4194304))
            words = [os.environ['HOLDFAST'], 'cp', 'Large', 'Copy']
            print('not copied' in subprocess.run(words, capture_output=True, text=True).stderr, len(names()))
            run('mv', 'Large', 'Moved'); print(get(P + '/collection/default/Moved', mine) == value(4194304))
            run('mv', 'Moved', 'Large')
            # What it says of its place leads nowhere else.
            subprocess.run([os.environ['HOLDFAST'], 'put', 'secret-service/' + '0' * 32], input=b'hidden')
            item.set_secret(b'now small')
            print(names(), item.get_secret())
            print(create(mine, {'a': 'b'}, b'x', 'planted', path=P + '/collection/secret_2dservice'))
            """)
        #expect(
            result.text == """
                65537 True True
                786432 True True
                786433 True True
                1048577 True True
                4194304 True True
                100 True True
                True True
                ['Large', 'Second', 'secret-service', 'secret-service']
                True
                LimitsExceeded
                3 True
                True 3
                True
                ['Large', 'secret-service', 'secret-service'] b'now small'
                Failed

                """, "\(result.text) \(result.errors)")
    }

    @Test func `programs hear what the user's own commands do to their items`() throws {
        let result = try service.python(
            """
            import subprocess, os
            from dbus.mainloop.glib import DBusGMainLoop
            from gi.repository import GLib
            bus, seen = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION, mainloop=DBusGMainLoop()), []
            def take(*values, member, path):
                if path.startswith(P): seen.append(' '.join([member] + [str(v)[len(P + '/collection/'):] for v in values]))
            bus.add_signal_receiver(take, member_keyword='member', path_keyword='path')
            def wait(n):
                while len(seen) < n: GLib.MainContext.default().iteration(True)
            def run(*words, **more): return subprocess.run([os.environ['HOLDFAST'], *words], stdout=subprocess.DEVNULL, **more)
            GLib.timeout_add_seconds(300, lambda: os._exit(97))
            mine = open(bus)
            create(mine, {'a': 'b'}, b'x', label='first', bus=bus)
            wait(1)
            run('mv', 'first', 'work/second'); wait(3)
            run('tag', 'add', 'work/second', 'seen'); wait(4)
            run('put', 'hidden', input=b'x')
            run('rm', 'work/second'); wait(5)
            run('trash', 'restore', 'work/second'); wait(6)
            run('tag', 'remove', 'work/second', 'secret-service'); wait(7)
            run('tag', 'add', 'work/second', 'secret-service'); wait(8)
            call(P + '/collection/work/second', 'Item', 'Delete', '', [], bus); wait(9)
            print('\\n'.join(seen))
            """)
        #expect(
            result.text == """
                ItemCreated default/first
                ItemDeleted default/first
                ItemCreated work/second
                ItemChanged work/second
                ItemDeleted work/second
                ItemCreated work/second
                ItemDeleted work/second
                ItemCreated work/second
                ItemDeleted work/second

                """, "\(result.text) \(result.errors)")
    }

    @Test func `programs hear of each collection that it is locked and unlocked`() throws {
        _ = try service.sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let result = try service.python(
            """
            import subprocess, os
            from dbus.mainloop.glib import DBusGMainLoop
            from gi.repository import GLib
            bus, seen = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION, mainloop=DBusGMainLoop()), []
            def take(interface, values, _, path):
                if 'Locked' in values: seen.append((path[len(P):], bool(values['Locked'])))
            bus.add_signal_receiver(take, 'PropertiesChanged', path_keyword='path')
            def wait(n):
                while len(seen) < n: GLib.MainContext.default().iteration(True)
                print(sorted(seen)); seen.clear()
            def run(*words, **more): return subprocess.run([os.environ['HOLDFAST'], *words], stdout=subprocess.DEVNULL, **more)
            GLib.timeout_add_seconds(300, lambda: os._exit(97))
            mine = open(bus)
            for name in ('work', 'work', 'home'): create(mine, {'a': name}, b'x', bus=bus, path=P + '/collection/' + name)
            # One that no program sees.
            run('put', 'hidden/x', input=b'x')
            # Once this is answered, what was to be told before has been.
            call(P + '/collection/work', 'Collection', 'SearchItems', 'a{ss}', [dbus.Dictionary({}, signature='ss')], bus)
            run('lock'); wait(4)
            os.system('"$HOLDFAST" unlock --passcode-fd 5 5< passcode > /dev/null'); wait(4)
            run('lock'); wait(4)
            """)
        func all(_ isLocked: String) -> String {
            "["
                + ["default", "home", "session", "work"].map { "('/collection/\($0)', \(isLocked))" }
                .joined(separator: ", ") + "]\n"
        }
        #expect(result.text == all("True") + all("False") + all("True"), "\(result.text) \(result.errors)")
    }

    @Test func `what stands for a search is an item once the vault is open, or none`() throws {
        _ = try service.sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let result = try service.python(
            """
            import os
            create(open(), {'a': 'b'}, b'x', 'label')
            os.system('"$HOLDFAST" lock > /dev/null')
            def search(value): return call(P, 'Service', 'SearchItems', 'a{ss}', [dbus.Dictionary({'a': value}, signature='ss')])[1][0]
            paths = [search('b'), search('none')]
            os.system('"$HOLDFAST" unlock --passcode-fd 5 5< passcode > /dev/null')
            mine = open()
            def label(path): return call(path, 'org.freedesktop.DBus.Properties', 'Get', 'ss', [S + 'Item', 'Label'])
            print(*[get(path, mine) for path in paths], *[label(path) for path in paths])
            print(len(call(P, 'Service', 'GetSecrets', 'aoo', [paths, O(mine)])))
            print(call(P, 'org.freedesktop.DBus.Properties', 'Get', 'ss', [S + 'Service', 'Nothing']))
            """)
        #expect(
            result.text == "b'x' NoSuchObject label NoSuchObject\n1\nUnknownProperty\n",
            "\(result.text) \(result.errors)")
    }

    @Test func `objects say what they are, and nothing of what is in the vault`() throws {
        let result = try service.run(
            #"""
            printf x | secret-tool store --label=Hidden a b
            look() { gdbus introspect --session --dest org.freedesktop.secrets --object-path "$@"; }
            look / --recurse > tree; grep -cE 'node.*Hidden' tree; grep -E '^ *node' tree | tr -d ' {'
            P=/org/freedesktop/secrets
            for path in $P/collection/default/Hidden $P/collection/session $P/session/1; do
                look $path | grep -oE 'org.freedesktop.Secret.[A-Za-z]*'
            done
            look $P/collection/default/Hidden | grep -cE 'Label = .Hidden.|readwrite'
            look $P/none 2>&1 | grep -o UnknownObject
            call() { gdbus call --session --dest org.freedesktop.secrets --object-path "$@" 2>&1 | grep -oE "UnknownProperty|NotSupported|\(.*\)"; }
            call $P --method org.freedesktop.DBus.Peer.Ping
            call $P --method org.freedesktop.DBus.Properties.GetAll org.freedesktop.Secret.Other
            call $P --method org.freedesktop.DBus.Properties.Get org.freedesktop.Secret.Item Label
            call $P --method org.freedesktop.Secret.Service.ReadAlias session
            call $P --method org.freedesktop.Secret.Service.SetAlias default $P/collection/default
            call $P --method org.freedesktop.Secret.Service.SetAlias default $P/collection/work
            call $P --method org.freedesktop.Secret.Service.CreateCollection "{'org.freedesktop.Secret.Collection.Label': <'My keys'>}" ''
            call $P --method org.freedesktop.Secret.Service.CreateCollection '{}' default
            call $P/collection/default --method org.freedesktop.Secret.Collection.Delete
            call $P --method org.freedesktop.Secret.Service.LockService
            "$HOLDFAST" status | grep -c 'locked'
            look $P/collection/default | grep -oE 'Locked = [a-z]*'
            """#)
        #expect(
            result.text == """
                0
                node/
                node/org
                node/org/freedesktop
                node/org/freedesktop/secrets
                node/org/freedesktop/secrets/collection
                node/org/freedesktop/secrets/collection/session
                node/org/freedesktop/secrets/aliases
                node/org/freedesktop/secrets/aliases/default
                org.freedesktop.Secret.Item
                org.freedesktop.Secret.Collection
                org.freedesktop.Secret.Session
                2
                UnknownObject
                ()
                (@a{sv} {},)
                UnknownProperty
                (objectpath '/org/freedesktop/secrets/collection/session',)
                ()
                NotSupported
                (objectpath '/org/freedesktop/secrets/collection/My_20keys', objectpath '/')
                (objectpath '/org/freedesktop/secrets/collection/default', objectpath '/')
                NotSupported
                ()
                1
                Locked = true

                """, "\(result.text) \(result.errors)")
    }
}
