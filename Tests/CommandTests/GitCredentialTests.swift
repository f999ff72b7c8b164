import Foundation
import Testing

/// `holdfast git-credential`, asked by the real git in front of a server with passwords.
@Suite struct GitCredentialTests {
    /// Repositories behind basic authentication: one.git for ada, two.git for bob. The passwords are in the file
    /// `passwords`.
    private static let server = """
        import base64, functools, http.server, os, sys
        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self):
                accounts = dict(line.split() for line in open("passwords"))
                user = accounts.get(self.path.split("/")[1], "")
                if self.headers.get("Authorization") == "Basic " + base64.b64encode(user.encode()).decode():
                    return super().do_GET()
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.send_header("Content-Length", "0")
                self.end_headers()
            def log_message(self, *words): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory="served"))
        with open("port", "w") as port: print(server.server_port, file=port)
        server.serve_forever()
        """

    private static let beginning = """
        set -eu
        cd "$HOME"
        export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1
        mkdir -p served bin
        ln -s "$HOLDFAST" bin/git-credential-holdfast
        PATH=$HOME/bin:$PATH
        git config --global user.name Ada; git config --global user.email ada@example.org
        git config --global init.defaultBranch main
        git config --global credential.helper holdfast
        git init -q work; (cd work; echo text > file; git add file; git commit -qm first)
        for name in one two; do
            git clone -q --bare work served/$name.git; (cd served/$name.git; git update-server-info)
        done
        printf 'one.git ada:first\\ntwo.git bob:second\\n' > passwords
        mkfifo port; python3 server.py & server=$!; trap 'kill $server' EXIT
        read -r port < port
        url=http://127.0.0.1:$port
        cat > answer <<'END'
        #!/bin/sh
        case $1 in Username*) echo "$GIT_USER";; *) echo "$GIT_PASSWORD";; esac
        END
        chmod +x answer

        """

    private func run(_ script: String, in sandbox: AgentSandbox) throws -> Sandbox.Result {
        _ = try sandbox.sandbox.file(Self.server.utf8, "server.py")
        let file = try sandbox.sandbox.file((Self.beginning + script).utf8, "script")
        return try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 })
    }

    private func unlocked() throws -> AgentSandbox {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        return sandbox
    }

    @Test func `git stores a password that worked, uses it, and has it erased when it works no more`() throws {
        let sandbox = try unlocked()
        let result = try run(
            """
            export GIT_ASKPASS=$HOME/answer
            GIT_USER=ada GIT_PASSWORD=first git clone -q $url/one.git first
            "$HOLDFAST" list --collection git | grep -c "http://ada@127.0.0.1:$port"
            export GIT_ASKPASS=/bin/false
            git clone -q $url/one.git second; cat second/file
            printf 'one.git ada:changed\\n' > passwords
            if git clone -q $url/one.git third 2>/dev/null; then echo cloned; fi
            "$HOLDFAST" list --collection git | grep -c "http" || true
            """, in: sandbox)
        #expect(result.code == 0 && result.text == "1\ntext\n0\n", "\(result.text) \(result.errors)")
    }

    @Test func `accounts are kept apart by path and by user`() throws {
        let sandbox = try unlocked()
        let result = try run(
            """
            git config --global credential.useHttpPath true
            GIT_ASKPASS=$HOME/answer GIT_USER=ada GIT_PASSWORD=first git clone -q $url/one.git a
            GIT_ASKPASS=$HOME/answer GIT_USER=bob GIT_PASSWORD=second git clone -q $url/two.git b
            export GIT_ASKPASS=/bin/false
            git clone -q $url/one.git c; git clone -q $url/two.git d; cat c/file d/file
            git config --global credential.useHttpPath false
            ask() { printf 'protocol=http\\nhost=h\\nusername=%s\\n\\n' "$1" | git credential fill 2>/dev/null | grep ^password || echo none; }
            printf 'protocol=http\\nhost=h\\nusername=eve\\npassword=1\\n\\n' | git credential approve
            printf 'protocol=http\\nhost=h\\nusername=fay\\npassword=2\\n\\n' | git credential approve
            ask eve; ask fay; ask gus
            printf 'protocol=http\\nhost=h\\nusername=eve\\npassword=1\\n\\n' | git credential reject
            ask eve; ask fay
            """, in: sandbox)
        #expect(
            result.text == "text\ntext\npassword=1\npassword=2\nnone\nnone\npassword=2\n",
            "\(result.text) \(result.errors)")
    }

    private func ask(_ action: String, _ lines: String, _ sandbox: AgentSandbox) throws -> Sandbox.Result {
        try sandbox.run("git-credential", action, input: .file(sandbox.file((lines + "\n").utf8)))
    }

    @Test func `what is erased is what was stored for that very address`() throws {
        let sandbox = try unlocked()
        let address = "protocol=https\nhost=h\nusername=ada\n"
        func stored() throws -> [String] {
            try sandbox.run("list", "--collection", "git", "--long").text.split(separator: "\n").compactMap {
                $0.split(separator: "\t").dropFirst().first.map(String.init)
            }
        }
        for path in ["", "path=team\n", "path=team/one.git\n"] {
            #expect(try ask("store", "\(address)\(path)password=p\n", sandbox).code == 0)
        }
        let all = ["https://ada@h", "https://ada@h/team", "https://ada@h/team/one.git"]
        #expect(try stored() == all)
        for path in ["team/two.git", "other", "team/one.git/x", "TEAM"] {
            #expect(try ask("erase", "\(address)path=\(path)\npassword=p\n", sandbox).code == 0)
            #expect(try ask("erase", "\(address)path=\(path)\n", sandbox).code == 0)
        }
        #expect(try stored() == all)
        #expect(try ask("erase", "\(address)path=team/one.git\npassword=p\n", sandbox).code == 0)
        #expect(try stored() == Array(all[..<2]))
        #expect(try ask("erase", "\(address)password=p\n", sandbox).code == 0)
        #expect(try stored() == ["https://ada@h/team"])
    }

    @Test func `a path that leads elsewhere gets no path's password, and none is stored for it`() throws {
        let sandbox = try unlocked()
        let address = "protocol=https\nhost=h\n"
        #expect(try ask("store", "\(address)path=team\nusername=ada\npassword=p\n", sandbox).code == 0)
        for path in ["team/../evil/one.git", "team/%2e%2E/evil", "team//evil", "team/..\\evil", "team/./evil"] {
            #expect(try ask("get", "\(address)path=\(path)\n", sandbox).text.isEmpty, "\(path)")
            #expect(try ask("store", "\(address)path=\(path)\nusername=eve\npassword=q\n", sandbox).code == 0)
            #expect(try ask("get", "\(address)path=\(path)\n", sandbox).text.isEmpty, "\(path)")
        }
        #expect(try ask("get", "\(address)path=team/one.git\n", sandbox).text == "username=ada\npassword=p\n")
    }

    @Test func `what a program stored over the session bus is no password of git's`() throws {
        let sandbox = try unlocked()
        let address = "protocol=https\nhost=h\n"
        #expect(try ask("store", "\(address)username=ada\npassword=mine\n", sandbox).code == 0)
        #expect(try ask("store", "\(address)username=eve\npassword=planted\n", sandbox).code == 0)
        func tag(_ action: String) throws {
            #expect(try sandbox.run("tag", action, "-c", "git", "https://eve@h", "secret-service").code == 0)
        }
        try tag("add")
        #expect(try ask("get", address, sandbox).text == "username=ada\npassword=mine\n")
        #expect(try ask("get", "\(address)username=eve\n", sandbox).text.isEmpty)
        // Whoever stored it would get what git learns.
        let store = try ask("store", "\(address)username=eve\npassword=new\n", sandbox)
        #expect(store.code == 2 && store.errors.contains("session bus"), "\(store.errors)")
        #expect(try ask("erase", "\(address)username=eve\n", sandbox).code == 0)
        let reference = ["run", "--env", "A=holdfast://git/https:%2F%2Feve@h", "--", "printenv", "A"]
        func value() throws -> Sandbox.Result { try sandbox.run(raw: reference.map { Array($0.utf8) }) }
        let refused = try value()
        #expect(refused.code == 2 && refused.errors.contains("secret-service"), "\(refused.errors)")
        let template = try sandbox.file("{{ holdfast://git/https:%2F%2Feve@h }}".utf8)
        #expect(try sandbox.run("inject", "--in", template).code == 2)
        try tag("remove")
        #expect(try ask("get", "\(address)username=eve\n", sandbox).text == "username=eve\npassword=planted\n")
        #expect(try value().text == "planted\n")
    }

    @Test func `a login that the user named answers with the user of its name`() throws {
        let sandbox = try unlocked()
        let added = try sandbox.run(
            "add", "https://ada%40b@h", "-c", "git", "--secret-fd=5", descriptors: [5: .file(sandbox.file("p".utf8))])
        #expect(added.code == 0, "\(added.errors)")
        let answer = try ask("get", "protocol=https\nhost=h\n", sandbox).text
        #expect(answer == "password=p\nusername=ada@b\n", "\(answer)")
    }

    @Test func `expiry and refresh token are kept, and what has expired is no answer`() throws {
        let sandbox = try unlocked()
        let address = "protocol=https\nhost=example.org\n"
        let store = "\(address)username=ada\npassword=p\npassword_expiry_utc=4000000000\noauth_refresh_token=r\n"
        #expect(try ask("store", store, sandbox).code == 0)
        let answer = try ask("get", address, sandbox)
        #expect(answer.text == "username=ada\npassword=p\npassword_expiry_utc=4000000000\noauth_refresh_token=r\n")
        #expect(try ask("store", "\(address)username=ada\npassword=q\npassword_expiry_utc=1\n", sandbox).code == 0)
        #expect(try ask("get", address, sandbox).text == "")
        #expect(try ask("store", "\(address)username=ada\npassword=q\n", sandbox).code == 0)
        #expect(try ask("get", address, sandbox).text == "username=ada\npassword=q\noauth_refresh_token=r\n")
        #expect(try ask("erase", "\(address)username=ada\npassword=other\n", sandbox).code == 0)
        #expect(try !ask("get", address, sandbox).text.isEmpty, "another password is not erased")
        #expect(try ask("erase", "\(address)username=ada\n", sandbox).code == 0)
        #expect(try ask("get", address, sandbox).text.isEmpty)
    }

    @Test func `huge, broken and unknown questions get nothing`() throws {
        let sandbox = try unlocked()
        let huge = "protocol=https\nhost=h\npassword=" + String(repeating: "x", count: 1 << 20)
        #expect(try ask("get", huge, sandbox).code == 2)
        #expect(try ask("get", String(repeating: "a=b\n", count: 1000), sandbox).code == 2)
        #expect(try ask("get", "protocol=https\nhost=a\rb\n", sandbox).code == 2)
        #expect(try ask("get", "protocol=https\n", sandbox).code == 0)
        let unknown = try ask("capability", "x", sandbox)
        #expect(unknown.code == 0 && unknown.output.isEmpty)
        #expect(try ask("store", "protocol=https\nhost=h\nusername=a\n", sandbox).code == 0)
        #expect(
            try ask("get", "protocol=https\nhost=h\n", sandbox).text.isEmpty, "nothing without a password is stored")
    }

    @Test func `without an agent the vault is opened for the question`() throws {
        let sandbox = try AgentSandbox()
        let store = try sandbox.file("protocol=https\nhost=h\nusername=a\npassword=p\n\n".utf8)
        let stored = try sandbox.run(
            "git-credential", "store", passcode: Prepared.passcode, input: .file(store))
        #expect(stored.code == 0, "\(stored.errors)")
        let question = try sandbox.file("protocol=https\nhost=h\n\n".utf8)
        let answer = try sandbox.run("git-credential", "get", passcode: Prepared.passcode, input: .file(question))
        #expect(answer.text == "username=a\npassword=p\n")
        let locked = try sandbox.run("git-credential", "get", input: .file(question))
        #expect(locked.code != 0 && locked.output.isEmpty)
    }
}
