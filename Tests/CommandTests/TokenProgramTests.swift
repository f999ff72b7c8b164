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
            mkdir -p cargo project/src; : > project/src/lib.rs
            cat > cargo/config.toml <<END
            [registry]
            global-credential-providers = ["cargo:token-from-stdout $HOLDFAST get token --collection tokens"]
            [registries.private]
            index = "sparse+http://127.0.0.1:$(cat port)/index/"
            END
            cat > project/Cargo.toml <<END
            [package]
            name = "x"
            version = "0.1.0"
            edition = "2021"
            [dependencies]
            demo = { version = "1", registry = "private" }
            END
            export CARGO_HOME=$HOME/cargo
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
