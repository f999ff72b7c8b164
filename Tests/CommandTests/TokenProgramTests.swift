import Foundation
import TestSupport
import Testing

/// Programs that run a command for a token, as Docs/programs/cargo-docker-kubernetes.md sets them up: Cargo and
/// kubectl, against servers of the test's.
@Suite struct TokenProgramTests {
    private static let real = ProcessInfo.processInfo.environment

    /// A program in `$PATH`.
    private static func find(_ name: String) -> String? {
        (real["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    /// What rustup's cargo needs, whose home is not the test's.
    private static let toolchain = ["RUSTUP_HOME": real["RUSTUP_HOME"] ?? (real["HOME"] ?? "") + "/.rustup"]

    /// Cargo asks programs for tokens since 1.74.
    private static let hasCargo =
        find("cargo").map { path in
            let words = (try? Sandbox().run(path, raw: [Array("--version".utf8)], environment: toolchain))?.text ?? ""
            let numbers =
                words.split(separator: " ").dropFirst().first?.split(separator: ".").compactMap { Int($0) } ?? []
            return numbers.count >= 2 && (numbers[0], numbers[1]) >= (1, 74)
        } ?? false

    /// A server that writes what it is asked, and with which `Authorization`, into the file `seen`. Its port is in the
    /// file `port`.
    private static let server = """
        import http.server, json, os, ssl, sys
        seen = open("seen", "w")
        class Server(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                token = self.headers.get("Authorization")
                print(self.path.split("?")[0], token, file=seen, flush=True)
                if sys.argv[1] == "registry" and token != "tok3n":
                    self.send_response(401); self.end_headers(); return
                if self.path.startswith("/version"): answer = {"major": "1"}
                elif self.path == "/index/config.json": answer = {"dl": "http://" + self.headers["Host"] + "/dl", "auth-required": True}
                else: answer = {"name": "demo", "vers": "1.0.0", "deps": [], "cksum": "0" * 64, "features": {}, "yanked": False}
                body = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json"); self.send_header("Content-Length", str(len(body)))
                self.end_headers(); self.wfile.write(body)
            def log_message(self, *_): pass
        server = http.server.HTTPServer(("127.0.0.1", 0), Server)
        if sys.argv[1] == "cluster":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain("cert.pem", "key.pem")
            server.socket = context.wrap_socket(server.socket, server_side=True)
        with open("port.new", "w") as file: file.write(str(server.server_port))
        os.rename("port.new", "port")
        server.serve_forever()
        """

    private func run(_ script: String) throws -> Sandbox.Result {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        _ = try sandbox.sandbox.file(Self.server.utf8, "server.py")
        let file = try sandbox.file(
            (Sandbox.awaiting
                + """
                set -u; cd "$HOME"
                printf tok3n | "$HOLDFAST" put token --collection tokens
                serve() { /usr/bin/python3 server.py "$1" & trap "kill $!" EXIT; await '[ -e port ]'; }
                project() {
                    mkdir -p cargo project/src; : > project/src/lib.rs; export CARGO_HOME=$HOME/cargo
                    printf '%s\\n' '[registry]' "global-credential-providers = [\\"$1\\"]" '[registries.private]' \\
                        "index = \\"sparse+http://127.0.0.1:$(cat port)/index/\\"" > cargo/config.toml
                    printf '%s\\n' '[package]' 'name = "x"' 'version = "0.1.0"' 'edition = "2021"' '[dependencies]' \\
                        'demo = { version = "1", registry = "private" }' > project/Cargo.toml
                }
                \(script)
                """).utf8)
        let more = Self.toolchain.merging(["HOLDFAST": Program.path]) { $1 }
        return try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)], environment: sandbox.variables.merging(more) { $1 })
    }

    @Test(.enabled(if: hasCargo, "there is no cargo of 1.74 or newer: nobody looks how it gets a token"))
    func `cargo gets the token of a private registry`() throws {
        let result = try run(
            #"""
            serve registry
            project "cargo:token-from-stdout $HOLDFAST get token --collection tokens"
            cargo generate-lockfile --quiet --manifest-path project/Cargo.toml; grep -c '^name = "demo"' project/Cargo.lock
            sort -u seen
            "$HOLDFAST" lock > /dev/null; rm -r project/Cargo.lock cargo/registry
            setsid -w cargo generate-lockfile --quiet --manifest-path project/Cargo.toml < /dev/null 2> /dev/null || echo locked
            """#)
        #expect(
            result.text == """
                1
                /index/config.json None
                /index/config.json tok3n
                /index/de/mo/demo tok3n
                locked

                """, "\(result.text) \(result.errors)")
    }

    @Test(.enabled(if: hasCargo, "there is no cargo of 1.74 or newer: nobody looks how it keeps tokens"))
    func `cargo logs in, asks for the token, and logs out`() throws {
        let result = try run(
            #"""
            serve registry
            mkdir bin; ln -s "$HOLDFAST" bin/cargo-credential-holdfast; PATH=$HOME/bin:$PATH
            project cargo-credential-holdfast
            ask() { rm -rf project/Cargo.lock cargo/registry; cargo generate-lockfile --quiet --manifest-path project/Cargo.toml 2> errors; }
            ask || grep -c 'no token found' errors
            echo tok3n | cargo login --quiet --registry private 2> /dev/null
            "$HOLDFAST" list cargo | cut -f 1 | sed "s/:$(cat port)/:N/"
            ask && grep -c '^name = "demo"' project/Cargo.lock
            grep -rl tok3n cargo || echo 'in no file'
            cargo logout --quiet --registry private 2> /dev/null
            ask || grep -c 'no token found' errors
            "$HOLDFAST" trash list --json | grep -c sparse
            echo tok3n | cargo login --quiet --registry private 2> /dev/null
            "$HOLDFAST" lock > /dev/null; ask < /dev/null || grep -c 'holdfast: ' errors
            """#)
        #expect(
            result.text == """
                1
                cargo/sparse+http://127.0.0.1:N/index/
                1
                in no file
                1
                1
                1

                """, "\(result.text) \(result.errors)")
    }

    private func talk(_ lines: String..., sandbox: AgentSandbox) throws -> Sandbox.Result {
        let input = try sandbox.file(lines.map { $0 + "\n" }.joined().utf8)
        return try sandbox.run("cargo-credential", "--cargo-plugin", input: .file(input))
    }

    @Test func `cargo's protocol is kept, whatever is asked`() throws {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        func request(_ kind: String, _ more: String = "", url: String = "https://a.example/index") -> String {
            "{\"v\":1,\"registry\":{\"index-url\":\"\(url)\",\"name\":\"a\",\"headers\":[\"WWW-Authenticate: x\"]},\"kind\":\"\(kind)\"\(more),\"args\":[]}"
        }
        let token = "t\u{e9} \\\"x\\\\"
        let result = try talk(
            request("get", ",\"operation\":\"read\""),
            request("login", ",\"token\":\"\(token)\",\"login-url\":\"https://a.example/me\""),
            request("get", ",\"operation\":\"publish\",\"vers\":\"1\""),
            request("get", url: "https://a.example/index/"),
            request("login"), request("login", ",\"token\":\"\""), request("format"), "{", "[]",
            request("get", url: "https://b c"),
            request("logout"), request("logout"), request("get"), sandbox: sandbox)
        #expect(result.code == 0, "\(result.errors)")
        func other(_ words: String) -> String {
            #"{"Err":{"caused-by":[],"kind":"other","message":"holdfast: \#(words)"}}"#
        }
        let missing = #"{"Err":{"kind":"not-found"}}"#
        let address = other("the address of a registry has 1 to 512 visible characters")
        let expected = [
            #"{"v":[1]}"#, missing, #"{"Ok":{"kind":"login"}}"#,
            #"{"Ok":{"kind":"get","cache":"session","operation_independent":true,"token":"\#(token)"}}"#, missing,
            other("there is no terminal to ask for the token"), other("the token is empty; nothing was stored"),
            #"{"Err":{"kind":"operation-not-supported"}}"#, other("cargo's request is not the JSON of one"), address,
            address,
            #"{"Ok":{"kind":"logout"}}"#, missing, missing,
        ]
        let lines = result.text.split(separator: "\n").map(String.init)
        for (line, wanted) in zip(lines, expected) { #expect(line == wanted) }
        #expect(lines.count == expected.count)
        #expect(try sandbox.run("cargo-credential", input: .null).code == 2)
        let long = try talk(String(repeating: "x", count: 70_000), sandbox: sandbox)
        #expect(long.code == 1 && long.text == "{\"v\":[1]}\n")
        // What a program stored over the session bus is no token, and gets none.
        _ = try talk(request("login", ",\"token\":\"mine\""), sandbox: sandbox)
        let name = ["tag", "add", "-c", "cargo", "https://a.example/index", "secret-service"]
        #expect(try sandbox.run(raw: name.map { Array($0.utf8) }).code == 0)
        let refused = try talk(
            request("get"), request("login", ",\"token\":\"x\""), request("logout"), sandbox: sandbox)
        #expect(refused.text.split(separator: "\n").dropFirst().map { $0.hasPrefix("{\"Err\"") } == [true, true, true])
        #expect(try sandbox.run("lock").code == 0)
        let locked = try talk(request("get"), sandbox: sandbox)
        #expect(locked.text.contains("\"kind\":\"other\""), "\(locked.text)")
    }

    @Test func `an ExecCredential has a token, or a certificate with its key, in the version that is asked for`() throws
    {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        func add(_ name: String, _ words: [String], _ secrets: String) throws {
            let input = try sandbox.file(secrets.utf8)
            let result = try sandbox.run(
                raw: (["add", name, "--secret-fd=5"] + words).map { Array($0.utf8) }, descriptors: [5: .file(input)])
            #expect(result.code == 0, "\(result.errors)")
        }
        func answer(_ name: String, _ info: String?) throws -> Sandbox.Result {
            try sandbox.run(
                "kubernetes-credential", name, environment: info.map { ["KUBERNETES_EXEC_INFO": $0] } ?? [:])
        }
        let put = try sandbox.run("put", "work/plain", input: .file(sandbox.file("tok3n\n".utf8)))
        #expect(put.code == 0)
        try add("work/login", ["--username", "ada"], "pass\n")
        try add(
            "work/both", ["--secret", "token", "--secret", "client key", "--text", "client certificate=CERT"],
            "p\nt\nKEY\n")
        let v1 = "client.authentication.k8s.io/v1"
        func info(_ version: String) -> String {
            "{\"kind\":\"ExecCredential\",\"apiVersion\":\"\(version)\",\"spec\":{\"interactive\":false,\"cluster\":{\"server\":\"https://h\"}}}"
        }
        func credential(_ status: String, _ version: String = v1) -> String {
            "{\"apiVersion\":\"\(version)\",\"kind\":\"ExecCredential\",\"status\":{\(status)}}\n"
        }
        #expect(try answer("work/plain", nil).text == credential("\"token\":\"tok3n\""))
        #expect(try answer("work/login", info(v1)).text == credential("\"token\":\"pass\""))
        let both = try answer("work/both", info(v1 + "beta1"))
        let parts = "\"clientCertificateData\":\"CERT\",\"clientKeyData\":\"KEY\",\"token\":\"t\""
        #expect(both.text == credential(parts, v1 + "beta1"), "\(both.text) \(both.errors)")
        for (name, info, code) in [
            ("work/none", nil, 6), ("plain", nil, 6), ("work/plain", info(v1 + "alpha1"), 2), ("work/plain", "{", 2),
            ("work/plain", "[]", 2),
        ] as [(String, String?, Int32)] {
            let refused = try answer(name, info)
            #expect(refused.code == code && refused.output.isEmpty, "\(name) \(refused.errors)")
        }
        #expect(try sandbox.run("tag", "add", "work/login", "secret-service").code == 0)
        #expect(try answer("work/login", nil).output.isEmpty)
    }

    @Test(.enabled(if: find("kubectl") != nil, "there is no kubectl: nobody looks how it gets a token"))
    func `kubectl calls the plugin`() throws {
        let result = try run(
            #"""
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 1 \
                -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 2> /dev/null
            serve cluster
            mkdir bin; ln -s "$HOLDFAST" bin/kubernetes-credential-holdfast; PATH=$HOME/bin:$PATH
            cat > config <<END
            apiVersion: v1
            kind: Config
            current-context: c
            clusters: [{name: c, cluster: {server: "https://127.0.0.1:$(cat port)", certificate-authority: $HOME/cert.pem}}]
            contexts: [{name: c, context: {cluster: c, user: u}}]
            users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable,
                command: kubernetes-credential-holdfast, args: [tokens/token]}}}]
            END
            export KUBECONFIG=$HOME/config
            kubectl get --raw /version; echo; sort -u seen
            "$HOLDFAST" lock > /dev/null; setsid -w kubectl get --raw /version < /dev/null 2> /dev/null || echo locked
            """#)
        #expect(
            result.text == "{\"major\": \"1\"}\n/version Bearer tok3n\nlocked\n", "\(result.text) \(result.errors)")
    }

    @Test(.enabled(if: find("kubectl") != nil, "there is no kubectl: nobody looks how it gets a token"))
    func `kubectl gets the token of a cluster`() throws {
        let result = try run(
            #"""
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 1 \
                -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 2> /dev/null
            serve cluster
            cat > template <<END
            {"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"{{ holdfast://tokens/token }}"}}
            END
            cat > config <<END
            apiVersion: v1
            kind: Config
            current-context: c
            clusters: [{name: c, cluster: {server: "https://127.0.0.1:$(cat port)", certificate-authority: $HOME/cert.pem}}]
            contexts: [{name: c, context: {cluster: c, user: u}}]
            users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable, command: $HOLDFAST,
                args: [inject, --in, $HOME/template]}}}]
            END
            export KUBECONFIG=$HOME/config
            kubectl get --raw /version; echo; sort -u seen
            "$HOLDFAST" lock > /dev/null; setsid -w kubectl get --raw /version < /dev/null 2> /dev/null || echo locked
            """#)
        #expect(
            result.text == "{\"major\": \"1\"}\n/version Bearer tok3n\nlocked\n", "\(result.text) \(result.errors)")
    }
}
