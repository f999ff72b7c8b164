import Foundation
import Items
import RealParts
import TestSupport
import Testing

/// What the user is asked for programs of the session bus: the passcode of a locked vault, and items that ask.
@Suite struct SecretServicePromptTests {
    private let service: SecretServiceTests

    init() throws { service = try SecretServiceTests() }

    private static let passcode = Prepared.passcode + "\\n"

    /// A script of the shell with `ask` ([LeaseCommandTests]), `lock` and `pass`.
    private func run(_ script: String) throws -> Sandbox.Result {
        _ = try service.sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let prepared =
            LeaseCommandTests.beginning + """
                lock() { "$HOLDFAST" lock > /dev/null; }
                printf s3cret | secret-tool store --label=Mail user ada
                export TERM=xterm DISPLAY= WAYLAND_DISPLAY= PASSCODE='\(Self.passcode)'

                """
        return try service.run(prepared + script)
    }

    @Test func `a search in a locked vault asks for the passcode on the terminal, and then finds`() throws {
        let result = try run(
            #"""
            lock
            ask 'secret-tool lookup user ada; stty -a | grep -o "[-]*echo "' 'Passcode: ' "$PASSCODE" | tail -n 2
            lock
            ask 'secret-tool search --unlock user ada' 'Passcode: ' "$PASSCODE" | grep '^secret'
            lock
            ask 'secret-tool lookup user nobody || echo none' 'Passcode: ' "$PASSCODE" | tail -n 1
            lock
            ask 'printf x | secret-tool store --label=New a b; secret-tool lookup a b' 'Passcode: ' "$PASSCODE" | tail -n 1
            lock
            cat > unlock.py <<'END'
            import secretstorage
            bus = secretstorage.dbus_init()
            collection = secretstorage.get_default_collection(bus)
            print(collection.is_locked(), collection.unlock(), collection.is_locked())
            collection.lock()
            item, = secretstorage.search_items(bus, {'user': 'ada'})
            print(item.is_locked(), item.unlock(), item.is_locked(), item.get_secret(), item.get_label())
            # A lock that has been answered is over: a prompt right behind it is not ended by it.
            for _ in range(6):
                collection.lock()
                print(collection.unlock(), end=' ')
            print('False')
            END
            enter="'Passcode: ' \"\$PASSCODE\""
            eval "ask '/usr/bin/python3 unlock.py' $enter $enter $enter $enter $enter $enter $enter $enter" | grep False
            """#)
        #expect(
            result.text == """
                s3cret
                echo 
                secret = s3cret
                none
                x
                True False False
                True False False b's3cret' Mail
                False False False False False False False

                """, "\(result.text) \(result.errors)")
    }

    /// What it keeps lies in the vault that it serves.
    @Test func `the agent as the session's keyring is none for a vault's own share`() throws {
        let result = try run(
            #"""
            "$HOLDFAST" slots add device --passcode-fd 5 5< passcode > out 2>&1; echo "code $?"
            grep -c 'Holdfast itself' out
            "$HOLDFAST" lock --shut-down > /dev/null
            "$HOLDFAST" passcode verify --passcode-fd 5 5< passcode > /dev/null; echo "opens $?"
            """#)
        #expect(result.text == "code 1\n1\nopens 0\n", "\(result.text) \(result.errors)")
    }

    @Test func `wrong passcodes are counted, and without an answer nothing is found`() throws {
        let result = try run(
            #"""
            lock
            ask 'secret-tool lookup user ada' 'Passcode: ' 'wrong\n' 'wrong passcode' '' 'Passcode: ' "$PASSCODE" | tail -n 1
            lock
            ask 'secret-tool lookup user ada || echo dismissed; secret-tool lookup user ada || echo at once' \
                'Passcode: ' '\n' | grep -E 'dismissed|at once'
            # The no stands for all programs, until the user unlocks.
            ask 'secret-tool lookup user ada || echo also' | grep also
            pass; lock
            ask 'stty raw; secret-tool lookup user ada || echo nobody' | grep -o nobody
            setsid -w secret-tool lookup user ada < /dev/null || echo nowhere
            ask "secret-tool search --all user ada 2>&1 | grep -c '^secret '" | tail -n 1
            ask 'secret-tool lookup user ada || echo over' 'You have 60 s.' '' 'Passcode: ' 'a\n' 'Passcode: ' 'b\n' 'Passcode: ' 'c\n' | grep over
            # Now there is a delay: it is said, and nobody is asked.
            ask 'secret-tool lookup user ada || echo later' | grep -oE 'too many wrong passcodes; try again in [0-9]+ (s|min)|later' | sed 's/[0-9][0-9]*/N/'
            "$HOLDFAST" status --json | grep -o '"remainingAttempts":[0-9]*'
            """#)
        #expect(
            result.text == """
                s3cret
                dismissed
                at once
                also
                nobody
                nowhere
                0
                over
                too many wrong passcodes; try again in N s
                later
                "remainingAttempts":2

                """, "\(result.text) \(result.errors)")
    }

    @Test func `a lock, the agent's end and the client's withdraw a question`() throws {
        let result = try run(
            #"""
            lock; export HOLDFAST; mkfifo hold
            # The shell's end would take the terminal away from what is still written there.
            held='secret-tool lookup user ada || ended=withdrawn; read -r < hold; echo $ended'
            ask "$held" 'Passcode: ' '!"$HOLDFAST" lock > /dev/null' 'no longer open' '!echo > hold' | grep -oE 'no longer open|withdrawn'
            ask 'secret-tool lookup user ada & echo $! > pid; read -r < hold' 'Passcode: ' '!kill $(cat pid)' 'no longer open' '!echo > hold' |
                grep -o 'no longer open'
            ask "$held" 'Passcode: ' '!"$HOLDFAST" lock --shut-down > /dev/null' 'no longer open' '!echo > hold' | grep -oE 'no longer open|withdrawn'
            """#)
        #expect(
            result.text == """
                no longer open
                withdrawn
                no longer open
                no longer open
                withdrawn

                """, "\(result.text) \(result.errors)")
    }

    @Test func `another program's lock of a locked vault ends no question`() throws {
        let result = try run(
            #"""
            lock
            cat > lock.py <<'END'
            import dbus
            b = dbus.SessionBus()
            print(b.call_blocking('org.freedesktop.secrets', '/org/freedesktop/secrets', 'org.freedesktop.Secret.Service', 'Lock', 'ao',
                [[dbus.ObjectPath('/org/freedesktop/secrets/collection/default')]])[0][0])
            END
            ask 'secret-tool lookup user ada' 'Passcode: ' '!/usr/bin/python3 lock.py > locked' '' "$PASSCODE" | tail -n 1
            cat locked
            """#)
        #expect(
            result.text == "s3cret\n/org/freedesktop/secrets/collection/default\n", "\(result.text) \(result.errors)")
    }

    @Test func `a locked vault answers a search of one collection, and a long one, with an object that finds it there`()
        throws
    {
        let result = try run(
            #"""
            cat > places.py <<'END'
            import secretstorage, sys
            b = secretstorage.dbus_init()
            c = secretstorage.get_default_collection(b)
            long = {'one': '1' * 900, 'two': '2' * 900, 'three': '3' * 900}
            if sys.argv[1] == 'store':
                elsewhere = secretstorage.Collection(b, '/org/freedesktop/secrets/collection/a')
                elsewhere.create_item('a', {'user': 'bob'}, b'elsewhere')
                c.create_item('mine', {'user': 'bob'}, b'here'); c.create_item('long', long, b'found')
            elif sys.argv[1] == 'ask':
                for where in ({'user': 'bob'}, long):
                    for item in c.search_items(where): print(item.item_path)
            else:
                for path in open('paths').read().split():
                    print(secretstorage.Item(b, path).get_secret().decode())
            END
            /usr/bin/python3 places.py store; lock; /usr/bin/python3 places.py ask > paths; wc -l < paths
            pass; /usr/bin/python3 places.py get
            """#)
        #expect(result.text == "2\nhere\nfound\n", "\(result.text) \(result.errors)")
    }

    @Test func `a call has few searches made again`() throws {
        let result = try run(
            #"""
            cat > searches.py <<'END'
            import dbus, sys
            b, P, S = dbus.SessionBus(), '/org/freedesktop/secrets', 'org.freedesktop.Secret.Service'
            def call(member, types, *values): return b.call_blocking('org.freedesktop.secrets', P, S, member, types, values)
            if sys.argv[1] == 'ask':
                for i in range(5): print(call('SearchItems', 'a{ss}', dbus.Dictionary({'user': 'ada' * (i == 0), 'n': str(i)} if i else {'user': 'ada'}, signature='ss'))[1][0])
                sys.exit()
            paths, session = [dbus.ObjectPath(l.strip()) for l in open('paths')], call('OpenSession', 'sv', 'plain', '')[1]
            for count in (4, 5):
                try: print(len(call('GetSecrets', 'aoo', paths[:count], session)))
                except dbus.DBusException as e: print(e.get_dbus_name().split('.')[-1])
            END
            lock; /usr/bin/python3 searches.py ask > paths; pass; /usr/bin/python3 searches.py get
            """#)
        #expect(result.text == "1\nInvalidArgs\n", "\(result.text) \(result.errors)")
    }

    @Test func `an item that asks is asked for on the terminal of its program, and a lease is for that`() throws {
        let result = try run(
            #"""
            printf first | secret-tool store --label=each a 1; printf second | secret-tool store --label=lock a 2
            "$HOLDFAST" tag add each ask-each-time > /dev/null; "$HOLDFAST" tag add lock ask-until-lock > /dev/null
            ask 'secret-tool lookup a 1' 'allow it once, ' 'WORD\n' | tail -n 1
            ask 'secret-tool lookup a 1; secret-tool lookup a 1' 'allow it once, ' 'n\n' | grep -c 'refused this'
            ask 'secret-tool lookup a 2; secret-tool lookup a 2; "$HOLDFAST" leases list' 'for this time, ' 'WORD\n' > out
            grep -c second out; grep -c secret-tool out
            ask '/usr/bin/python3 -c "import secretstorage as s; print(next(s.search_items(s.dbus_init(), dict(a=chr(50)))).get_secret())"' \
                'for this time, ' 'once WORD\n' | tail -n 1
            setsid -w secret-tool lookup a 1 2>&1 < /dev/null
            secret-tool lookup user ada
            """#)
        #expect(
            result.text == """
                first
                2
                2
                2
                b'second'
                secret-tool: you cannot be asked: there is neither a terminal nor a display
                s3cret
                """, "\(result.text) \(result.errors)")
    }

    @Test func `a call for several items asks for each that asks, until a no`() throws {
        let result = try run(
            #"""
            for i in 1 2 3; do printf secret$i | secret-tool store --label=item$i a b n $i; done
            "$HOLDFAST" tag add item1 ask-each-time > /dev/null; "$HOLDFAST" tag add item3 ask-until-lock > /dev/null
            cat > several.py <<'END'
            import dbus
            b, P, S = dbus.SessionBus(), '/org/freedesktop/secrets', 'org.freedesktop.Secret.Service'
            def call(member, types, *values): return b.call_blocking('org.freedesktop.secrets', P, S, member, types, values)
            found, session = call('SearchItems', 'a{ss}', dbus.Dictionary({'a': 'b'}, signature='ss'))[0], call('OpenSession', 'sv', 'plain', '')[1]
            print('got', sorted(bytes(s[2]).decode() for s in call('GetSecrets', 'aoo', found, session).values()))
            END
            three='/usr/bin/python3 several.py'
            ask "$three; $three" 'allow it once, ' 'WORD\n' 'for this time, ' 'WORD\n' 'allow it once, ' 'WORD\n' | grep ^got
            "$HOLDFAST" leases revoke --all > /dev/null
            ask "$three" 'allow it once, ' 'n\n' | grep -oE '^got.*|item[0-9]'
            setsid -w $three < /dev/null
            """#)
        #expect(
            result.text == """
                got ['secret1', 'secret2', 'secret3']
                got ['secret1', 'secret2', 'secret3']
                item1
                got ['secret2']
                got ['secret2']

                """, "\(result.text) \(result.errors)")
    }

    @Test(arguments: [("/usr/bin/pinentry-tty", #"\n"#), ("/usr/bin/pinentry-curses", #"\r"#)])
    func `a pinentry that is named asks for the passcode`(_ program: String, end: String) throws {
        let result = try run(
            #"""
            "$HOLDFAST" lock --shut-down > /dev/null
            export HOLDFAST_PINENTRY=\#(program) END='\#(end)'; "$HOLDFAST" secrets serve > /dev/null
            ask 'secret-tool lookup user ada' 'Passcode:' "${PASSCODE%??}$END" | tail -n 1 | grep -ao s3cret
            lock
            ask 'secret-tool lookup user ada || echo dismissed' 'Passcode:' "$END" | grep -ao dismissed
            ask 'secret-tool lookup user ada || echo at once' | grep -ao 'at once'
            """#)
        #expect(result.text == "s3cret\ndismissed\nat once\n", "\(result.text) \(result.errors)")
    }

    /// Also while nobody has taken note of the parent's end.
    @Test(arguments: ["/usr/bin/python3 orphan.py | cat", "/usr/bin/python3 keeper.py"])
    func `a child that keeps a connection of its parent's has no lease of that when the parent has ended`(
        _ command: String
    ) throws {
        let result = try run(
            #"""
            "$HOLDFAST" tag add Mail ask-until-lock > /dev/null
            cat > orphan.py <<'END'
            import dbus, os, sys
            b, P, S = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SESSION), '/org/freedesktop/secrets', 'org.freedesktop.Secret.Service'
            def call(member, types, *values): return b.call_blocking('org.freedesktop.secrets', P, S, member, types, values)
            found, session = call('SearchItems', 'a{ss}', dbus.Dictionary({'user': 'ada'}, signature='ss'))[0], call('OpenSession', 'sv', 'plain', '')[1]
            def get():
                try: print([bytes(s[2]) for s in call('GetSecrets', 'aoo', found, session).values()], flush=True)
                except dbus.DBusException as e: print(e.get_dbus_message(), flush=True)
            get()
            parent = os.getpid()
            if os.fork(): os._exit(0)
            while os.getppid() == parent: pass
            get()
            END
            cat > keeper.py <<'END'
            import subprocess
            process = subprocess.Popen(['/usr/bin/python3', 'orphan.py'], stdout=subprocess.PIPE)
            print(process.stdout.read(), process.wait())
            END
            ask '\#(command)' 'for this time, ' 'WORD\n' | grep -oE 's3cret|the program that connected has ended'
            """#)
        #expect(
            result.text == "s3cret\nthe program that connected has ended\n", "\(result.text) \(result.errors)")
    }

    @Test func `programs behind the same proxy of a sandbox share no lease`() throws {
        let result = try run(
            #"""
            "$HOLDFAST" tag add Mail ask-until-lock > /dev/null
            for name in xdg-dbus-proxy flatpak-dbus-proxy; do cp "$(readlink -f /usr/bin/python3)" $name; done
            cat > get.py <<'END'
            import sys; sys.path += ['/usr/lib/python3/dist-packages']
            import secretstorage as s
            print(next(s.search_items(s.dbus_init(), {'user': 'ada'})).get_secret())
            END
            for name in xdg-dbus-proxy flatpak-dbus-proxy; do
                ask "./$name get.py; ./$name get.py" 'allow it once, ' 'WORD\n' 'allow it once, ' 'WORD\n' | grep -c s3cret
            done
            # An update has removed the file of the proxy that runs.
            sed -i 's/^import secretstorage/import os; os.remove("xdg-dbus-proxy")\n&/' get.py
            ask './xdg-dbus-proxy get.py' 'allow it once, ' 'WORD\n' | grep -c s3cret
            "$HOLDFAST" leases list --json
            """#)
        #expect(result.text == "2\n2\n1\n{\"leases\":[]}\n", "\(result.text) \(result.errors)")
    }
}
