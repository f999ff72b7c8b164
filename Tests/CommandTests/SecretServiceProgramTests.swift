import Foundation
import RealParts
import TestSupport
import Testing

/// Programs and libraries that people have, beside secret-tool and secretstorage: Python's keyring, libsecret from C
/// and through introspection, and a browser.
@Suite struct SecretServiceProgramTests {
    private let service: SecretServiceTests

    init() throws { service = try SecretServiceTests() }

    private static func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// Why a test does not run. `make check` installs what it needs, so there that is a fault.
    private static func missing(_ package: String) -> Comment {
        TestRun.isCheck ? "\(package) is not installed" : "SKIPPED: tries \(package), see make check"
    }

    private func run(_ script: String, unlocked: Bool = true) throws -> Sandbox.Result {
        _ = try service.sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let prepared = """
            unlock() { "$HOLDFAST" unlock --passcode-fd 5 5< passcode > /dev/null; }

            """
        return try service.run(prepared + script, unlocked: unlocked)
    }

    @Test(
        .enabled(if: isThere("/usr/lib/python3/dist-packages/keyring"), missing("python3-keyring")))
    func `Python's keyring sets, gets, changes and deletes, and says when it is locked`() throws {
        let result = try run(
            #"""
            cat > use.py <<'END'
            import keyring.errors, os, subprocess
            from keyring.backends.SecretService import Keyring
            k = Keyring()
            k.set_password('shop', 'ada', 'first'); k.set_password('shop', 'ada', 'p\u00e4ss')
            print(k.get_password('shop', 'ada'), k.get_password('shop', 'bob'), k.get_credential('shop', None).username)
            subprocess.run([os.environ['HOLDFAST'], 'lock'], stdout=subprocess.DEVNULL)
            try: k.get_password('shop', 'ada')
            except keyring.errors.KeyringLocked: print('locked')
            with open('passcode') as passcode:
                subprocess.run([os.environ['HOLDFAST'], 'unlock', '--passcode-fd', '0'], stdin=passcode, stdout=subprocess.DEVNULL)
            print(k.get_password('shop', 'ada'))
            k.delete_password('shop', 'ada'); print(k.get_password('shop', 'ada'))
            END
            setsid -w /usr/bin/python3 use.py < /dev/null
            """#)
        #expect(
            result.text == """
                päss None ada
                locked
                päss
                None

                """, "\(result.text) \(result.errors)")
    }

    @Test(
        .enabled(
            if: isThere("/usr/lib/x86_64-linux-gnu/girepository-1.0/Secret-1.typelib")
                || isThere("/usr/lib/aarch64-linux-gnu/girepository-1.0/Secret-1.typelib"),
            missing("gir1.2-secret-1")))
    func `libsecret through introspection: collections, items, and what is only for now`() throws {
        let result = try run(
            #"""
            cat > use.py <<'END'
            import gi; gi.require_version('Secret', '1')
            from gi.repository import Secret
            S = Secret.Schema.new('org.example.Mail', Secret.SchemaFlags.NONE, {'user': Secret.SchemaAttributeType.STRING})
            print(Secret.password_store_sync(S, {'user': 'ada'}, Secret.COLLECTION_DEFAULT, 'Mail', 's3cret', None),
                Secret.password_store_sync(S, {'user': 'bob'}, Secret.COLLECTION_SESSION, 'For now', 'x', None))
            print([Secret.password_lookup_sync(S, {'user': u}, None) for u in ('ada', 'bob', 'eve')])
            service = Secret.Service.get_sync(Secret.ServiceFlags.OPEN_SESSION | Secret.ServiceFlags.LOAD_COLLECTIONS, None)
            print(sorted(c.get_label() for c in service.get_collections()))
            collection = Secret.Collection.for_alias_sync(service, 'default', Secret.CollectionFlags.LOAD_ITEMS, None)
            item, = collection.get_items()
            item.set_label_sync('Post', None); item.set_attributes_sync(S, {'user': 'carl'}, None)
            item.set_secret_sync(Secret.Value.new('new', -1, 'text/plain'), None)
            found, = service.search_sync(S, {'user': 'carl'}, Secret.SearchFlags.LOAD_SECRETS, None)
            print(found.get_label(), found.get_secret().get_text(), found.get_locked(), found.get_schema_name())
            for alias, label in (('default', 'default'), (None, 'work')):
                print(Secret.Collection.create_sync(service, label, alias, Secret.CollectionCreateFlags.NONE, None).get_label())
            print(Secret.password_clear_sync(S, {'user': 'carl'}, None), Secret.password_lookup_sync(S, {'user': 'carl'}, None))
            service.lock_sync([collection], None)
            print(Secret.password_lookup_sync(S, {'user': 'bob'}, None))
            END
            setsid -w /usr/bin/python3 use.py < /dev/null
            """#)
        #expect(
            result.text == """
                True True
                ['s3cret', 'x', None]
                ['default', 'session']
                Post new False org.example.Mail
                default
                work
                True None
                None

                """, "\(result.text) \(result.errors)")
    }

    @Test(
        .enabled(
            if: TestRun.isCheck && isThere("/usr/include/libsecret-1/libsecret/secret.h"),
            "SKIPPED: compiles against libsecret-1-dev, see make check"))
    func `a program in C stores, finds, hears of and removes`() throws {
        let result = try run(
            #"""
            cat > use.c <<'END'
            #include <libsecret/secret.h>
            #include <stdio.h>
            static const SecretSchema schema = { "org.example.C", SECRET_SCHEMA_NONE, { { "n", SECRET_SCHEMA_ATTRIBUTE_INTEGER }, { NULL, 0 } } };
            int main(void) {
                char *large = g_strnfill(3 << 20, 'v');
                int stored = secret_password_store_sync(&schema, SECRET_COLLECTION_DEFAULT, "C", large, NULL, NULL, "n", 7, NULL);
                char *found = secret_password_lookup_sync(&schema, NULL, NULL, "n", 7, NULL);
                int same = found && strcmp(found, large) == 0;
                secret_password_free(found);
                int removed = secret_password_clear_sync(&schema, NULL, NULL, "n", 7, NULL);
                found = secret_password_lookup_sync(&schema, NULL, NULL, "n", 7, NULL);
                printf("%d %d %d %d\n", stored, same, removed, found != NULL);
                return 0;
            }
            END
            cc use.c -o use $(pkg-config --cflags --libs libsecret-1) && ./use
            """#)
        #expect(result.text == "1 1 1 0\n", "\(result.text) \(result.errors)")
    }

    /// Electron's safeStorage is the same code.
    @Test(
        .enabled(
            if: TestRun.isCheck && isThere("/usr/bin/chromium"), "SKIPPED: starts Chromium, see make check"))
    func `Chromium keeps the key of its cookies here, reads them later, and makes no other key after a lock`() throws {
        let result = try run(
            Sandbox.awaiting + #"""
                cat > server.py <<'END'
                import http.server
                class Handler(http.server.BaseHTTPRequestHandler):
                    def do_GET(self):
                        body = ('<html><body>has ' + self.headers.get('Cookie', 'none') + '</body></html>').encode()
                        self.send_response(200)
                        if self.path == '/set': self.send_header('Set-Cookie', 'key=kept; Max-Age=86400; Path=/')
                        self.send_header('Content-Type', 'text/html')
                        self.send_header('Content-Length', str(len(body)))
                        self.end_headers()
                        self.wfile.write(body)
                    def log_message(self, *words): pass
                server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
                with open('port', 'w') as port: print(server.server_port, file=port)
                server.serve_forever()
                END
                mkfifo port; python3 server.py & server=$!; trap 'kill $server' EXIT
                read -r port < port
                browse() {
                    setsid -w chromium --headless=new --no-sandbox --disable-gpu --password-store=gnome-libsecret \
                        --user-data-dir="$HOME/profile" --dump-dom "http://127.0.0.1:$port/$1" 2> browser.log < /dev/null | grep -o 'has [a-z=]*'
                }
                key() { secret-tool search --all xdg:schema chrome_libsecret_os_crypt_password_v2 application chromium 2> /dev/null | grep -E '^(label|secret) ' | sed 's/secret = .*==$/a key/'; }
                keys() { secret-tool search --all application chromium 2> /dev/null | grep '^secret' | sort; }
                browse set; key; keys > first
                grep -ac v11 profile/Default/Cookies profile/Default/Network/Cookies 2> /dev/null | grep -c ':[1-9]'
                browse get; keys | cmp - first && echo 'same key'
                # The agent ends and another one begins: the key is in the vault.
                "$HOLDFAST" lock --shut-down > /dev/null; "$HOLDFAST" secrets serve; unlock
                browse get
                # Nobody can be asked: it gets no key, and makes none. Cookies that it cannot decrypt it drops itself.
                "$HOLDFAST" lock > /dev/null; browse get
                unlock; keys | cmp - first && echo 'same key'
                browse set; browse get
                """#)
        #expect(
            result.text == """
                has none
                label = Chromium Safe Storage
                a key
                1
                has key=kept
                same key
                has key=kept
                has none
                same key
                has none
                has key=kept

                """, "\(result.text) \(result.errors)")
    }
}
