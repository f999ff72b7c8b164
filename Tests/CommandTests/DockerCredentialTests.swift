import Foundation
import Testing

/// `holdfast docker-credential`, called by programs that nobody here wrote: skopeo, and Python's docker.
@Suite struct DockerCredentialTests {
    /// A registry that knows ada, and tells who it let in.
    private static let server = """
        import base64, http.server
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_GET(self):
                accounts = [base64.b64encode(line.strip().encode()).decode() for line in open("passwords")]
                known = self.headers.get("Authorization", "")[6:] in accounts
                body = b'{"name":"team/app","tags":["one"]}' if known else b"{}"
                self.send_response(200 if known else 401)
                if not known: self.send_header("WWW-Authenticate", 'Basic realm="registry"')
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def log_message(self, *words): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        with open("port", "w") as port: print(server.server_port, file=port)
        server.serve_forever()
        """

    private static let beginning = """
        set -u
        cd "$HOME"
        mkdir bin; ln -s "$HOLDFAST" bin/docker-credential-holdfast
        PATH=$HOME/bin:$PATH

        """

    private let sandbox: AgentSandbox

    init() throws {
        sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
    }

    private func run(_ script: String) throws -> Sandbox.Result {
        _ = try sandbox.sandbox.file(Self.server.utf8, "server.py")
        _ = try sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let file = try sandbox.sandbox.file((Self.beginning + script).utf8, "script")
        return try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 })
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/skopeo"), "skopeo is not installed"))
    func `skopeo logs in, uses what was stored, and logs out`() throws {
        let result = try run(
            #"""
            echo ada:first > passwords
            mkfifo port; python3 server.py & server=$!; trap 'kill $server' EXIT
            read -r port < port
            registry=127.0.0.1:$port
            echo "{\"credHelpers\":{\"$registry\":\"holdfast\"}}" > auth.json
            go() { skopeo "$1" --tls-verify=false --authfile auth.json "${@:2}" 2>&1; }
            go login -u ada -p wrong $registry > /dev/null && echo "let in"
            echo first | go login -u ada --password-stdin $registry
            grep -c first auth.json; "$HOLDFAST" list docker --long | cut -f 1,2
            go list-tags docker://$registry/team/app | tr -d ' \n'; echo
            "$HOLDFAST" lock
            go list-tags docker://$registry/team/app | grep -c 'no terminal'
            "$HOLDFAST" unlock --passcode-fd 5 > /dev/null 5< passcode
            go logout $registry; go list-tags docker://$registry/team/app | grep -c unauthorized
            "$HOLDFAST" trash list --json | grep -c "$registry"
            """#)
        var lines = result.text.split(separator: "\n").map(String.init)
        if lines.count > 3 {
            #expect(lines[2].hasPrefix("docker\t127.0.0.1:") && lines[5].hasPrefix("Removed login credentials"))
            #expect(lines[3].hasSuffix(#""Tags":["one"]}"#))
            lines.replaceSubrange(2...3, with: [])
            lines.remove(at: 3)
        }
        #expect(lines == ["Login Succeeded!", "0", "1", "1", "1"], "\(result.text) \(result.errors)")
    }

    /// The client of Docker speaks to a registry itself where there is no daemon (since 27).
    private static let hasDocker =
        ["/usr/bin/docker", "/usr/local/bin/docker"].first { FileManager.default.isExecutableFile(atPath: $0) }
        .map { path in
            let words = (try? Sandbox().run(path, raw: [Array("--version".utf8)]))?.text ?? ""
            return words.split { $0 == " " || $0 == "." }.dropFirst(2).first.flatMap { Int($0) } ?? 0 >= 27
        } ?? false

    @Test(.enabled(if: hasDocker, "there is no docker of 27 or newer: nobody looks whether it logs in"))
    func `docker logs in and out without a daemon`() throws {
        let result = try run(
            #"""
            echo ada:first > passwords
            mkfifo port; python3 server.py & server=$!; trap 'kill $server' EXIT
            read -r port < port
            registry=127.0.0.1:$port
            export DOCKER_CONFIG=$HOME/docker DOCKER_HOST=unix://$HOME/none.sock
            mkdir docker; echo '{"credsStore":"holdfast"}' > docker/config.json
            echo wrong | docker login -u ada --password-stdin $registry > /dev/null 2>&1 && echo 'let in'
            echo first | docker login -u ada --password-stdin $registry 2> errors | tail -n 1
            grep -c first docker/config.json; "$HOLDFAST" show "docker/$registry" -f password; echo
            docker login $registry < /dev/null 2>&1 | grep -c 'Username: ada'
            docker logout $registry > /dev/null; "$HOLDFAST" list docker 2> /dev/null || echo 'none left'
            """#)
        #expect(
            result.text == "Login Succeeded\n0\nfirst\n1\nnone left\n", "\(result.text) \(result.errors)")
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/docker/credentials"),
            "python3-docker is not installed"))
    func `Python's docker stores, reads, lists and erases`() throws {
        let result = try run(
            """
            /usr/bin/python3 - <<'END'
            import docker.credentials as c
            s = c.Store('holdfast')
            def get(name):
                try: return s.get(name)
                except c.CredentialsNotFound: return 'not found'
            hub = 'https://index.docker.io/v1/'
            print(get(hub), s.list())
            s.store(hub, 'ada', 's3cret "\\\\ \\u00e9')
            s.store('localhost:5000', '<token>', 'x' * 4000)
            print(get(hub), get(hub + 'access-token'), get('index.docker.io'))
            print(s.list(), len(get('localhost:5000')['Secret']))
            s.store(hub, 'bob', 'second'); print(get(hub))
            s.erase(hub); print(get(hub), s.list())
            try: s.erase(hub)
            except c.CredentialsNotFound: print('not found')
            END
            """)
        #expect(
            result.text == #"""
                not found {}
                {'ServerURL': 'https://index.docker.io/v1/', 'Username': 'ada', 'Secret': 's3cret "\\ é'} not found not found
                {'https://index.docker.io/v1/': 'ada', 'localhost:5000': '<token>'} 4000
                {'ServerURL': 'https://index.docker.io/v1/', 'Username': 'bob', 'Secret': 'second'}
                not found {'localhost:5000': '<token>'}
                not found

                """#, "\(result.text) \(result.errors)")
    }

    private func ask(_ action: String, _ input: String) throws -> Sandbox.Result {
        try sandbox.run("docker-credential", action, input: .file(sandbox.sandbox.file(input.utf8)))
    }

    @Test func `what is no credential stores nothing, and errors are where programs read them`() throws {
        let long = String(repeating: "x", count: 61_441)
        for (action, input, words) in [
            ("store", "", "not the JSON"), ("store", "{", "not the JSON"), ("store", "[]", "a ServerURL"),
            ("store", #"{"ServerURL":"a","Username":"b"}"#, "a ServerURL"),
            ("store", #"{"ServerURL":"a","Username":"","Secret":"c"}"#, "a ServerURL"),
            ("store", #"{"ServerURL":"a","ServerURL":"b","Username":"u","Secret":"c"}"#, "not the JSON"),
            ("store", #"{"ServerURL":"a\nb","Username":"u","Secret":"c"}"#, "visible characters"),
            ("store", #"{"ServerURL":"a","Username":"u","Secret":"\#(long)"}"#, "at most 61440 bytes"),
            ("get", "", "visible characters"), ("get", String(repeating: "x", count: 513), "visible characters"),
            ("erase", "a\u{1B}[2J", "visible characters"), ("version", "", "get, store, erase or list"),
        ] {
            let result = try ask(action, input)
            #expect(
                result.code == 2 && result.text.contains(words) && result.errors.isEmpty,
                "\(action) \(input.prefix(60)): \(result.code) \(result.text) \(result.errors)")
        }
        #expect(try sandbox.run("list", "--collection", "docker").text.isEmpty)
    }

    @Test func `what a program stored over the session bus is no account of a registry`() throws {
        #expect(try ask("store", #"{"ServerURL":"h:5000","Username":"eve","Secret":"planted"}"#).code == 0)
        func tag(_ action: String) throws {
            #expect(try sandbox.run("tag", action, "-c", "docker", "h:5000", "secret-service").code == 0)
        }
        try tag("add")
        #expect(try ask("get", "h:5000").text == "credentials not found in native keychain\n")
        #expect(try ask("list", "").text == "{}\n")
        let store = try ask("store", #"{"ServerURL":"h:5000","Username":"ada","Secret":"new"}"#)
        #expect(store.code == 1 && store.text.contains("session bus"), "\(store.text)")
        try tag("remove")
        #expect(try ask("get", "h:5000").text.contains("planted"))
    }
    @Test func `a list reads nothing, so that what asks and what is none of it stop nobody`() throws {
        for (server, user) in [("h:5000", "ada"), ("asks:5000", "gus")] {
            let stored = try ask("store", "{\"ServerURL\":\"\(server)\",\"Username\":\"\(user)\",\"Secret\":\"s\"}")
            #expect(stored.code == 0)
        }
        #expect(try sandbox.run("tag", "add", "docker/asks:5000", "ask-each-time").code == 0)
        let file = try sandbox.sandbox.file(repeatElement(UInt8(7), count: 2 << 20), "large")
        #expect(try sandbox.run("put", "docker/large", input: .file(file)).code == 0)
        #expect(try ask("list", "").text == #"{"asks:5000":"gus","h:5000":"ada"}"# + "\n")
    }
}
