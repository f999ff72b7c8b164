import Foundation
import Items
import RealParts
import TestSupport
import Testing

/// The agent as an ssh-agent, used by the real OpenSSH: ssh-add, ssh-keygen, ssh with a private sshd, git.
@Suite struct SSHAgentTests {
    /// Two keys in the vault, whose files are gone; `login` logs in to a server that is a child of ssh, without a port.
    static let beginning = """
        set -eu
        cd "$HOME"
        umask 077
        eval "$("$HOLDFAST" ssh agent)"
        ssh-keygen -q -t ed25519 -N '' -C laptop -f one; ssh-keygen -q -t ecdsa -b 256 -N '' -C work -f two
        "$HOLDFAST" ssh import one < one > one.told; "$HOLDFAST" ssh import keys/two --in two > /dev/null
        cmp one.told one.pub
        rm one two
        points() { ssh-add -L | cut -d' ' -f1,2 | sort; }
        ssh-keygen -q -t ed25519 -N '' -f host
        cut -d' ' -f1,2 one.pub > authorized
        printf 'server %s\\n' "$(cut -d' ' -f1,2 host.pub)" > known
        cat > sshd_config <<END
        HostKey $HOME/host
        AuthorizedKeysFile $HOME/authorized
        PasswordAuthentication no
        KbdInteractiveAuthentication no
        PermitRootLogin yes
        StrictModes no
        PidFile none
        UsePAM no
        END
        cat > server <<END
        #!/bin/sh
        PATH=\\$PATH:/usr/sbin
        set -- "\\$(command -v sshd)" -i -f $HOME/sshd_config -E $HOME/sshd.log
        # For root it wants a folder that only its service makes.
        if [ "\\$(id -u)" != 0 ] || [ -d /run/sshd ]; then exec "\\$@"; fi
        exec unshare -m sh -c 'mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec "\\$@"' sh "\\$@"
        END
        chmod 700 server
        login() {
            ssh -F none -o ProxyCommand="$HOME/server" \\
                -o UserKnownHostsFile="$HOME/known" -o StrictHostKeyChecking=yes -o HostKeyAlias=server -o BatchMode=yes \\
                "$@"
        }

        """

    func unlocked() throws -> AgentSandbox {
        let sandbox = try AgentSandbox()
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        return sandbox
    }

    func run(_ script: String, in sandbox: AgentSandbox) throws -> Sandbox.Result {
        _ = try sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let file = try sandbox.sandbox.file((Sandbox.awaiting + Self.beginning + script).utf8, "script")
        return try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 })
    }

    @Test func `ssh-add lists the keys of the vault, and none while it is locked`() throws {
        let sandbox = try unlocked()
        let result = try run(
            """
            cut -d' ' -f1,2 one.pub two.pub | sort | cmp - <(points) && echo same
            ssh-add -L | cut -d' ' -f3 | sort
            "$HOLDFAST" lock
            ssh-add -L || echo code $?
            ssh-keygen -Y sign -q -f one.pub -n file < /dev/null 2>/dev/null || echo refused
            """, in: sandbox)
        #expect(
            result.text == "same\nkeys/two\none\nThe agent has no identities.\ncode 1\nrefused\n",
            "\(result.text) \(result.errors)")
    }

    @Test func `logins, signatures of files and of commits are made with both kinds of keys`() throws {
        let sandbox = try unlocked()
        let result = try run(
            """
            login x@server true 2>/dev/null && echo wrong user
            login "$(id -un)@server" echo in || cat sshd.log >&2
            cut -d' ' -f1,2 two.pub > authorized
            login "$(id -un)@server" echo in again
            printf 'me %s\\nme %s\\n' "$(cut -d' ' -f1,2 one.pub)" "$(cut -d' ' -f1,2 two.pub)" > signers
            echo text > text
            for key in one two; do
                ssh-keygen -Y sign -q -f $key.pub -n file < text > $key.sig 2>/dev/null
                ssh-keygen -Y verify -f signers -I me -n file -s $key.sig < text | cut -d' ' -f1-4
                echo other | ssh-keygen -Y verify -f signers -I me -n file -s $key.sig 2>/dev/null || echo other text
            done
            git init -q repository 2>/dev/null; cd repository
            git config user.name Ada; git config user.email ada@example.org
            git config gpg.format ssh; git config gpg.ssh.allowedSignersFile "$HOME/signers"
            git config user.signingKey "$HOME/two.pub"
            git commit -q --allow-empty -S -m signed; git verify-commit HEAD 2>&1 | cut -d' ' -f1-2
            """, in: sandbox)
        let good = "Good \"file\" signature for\nCould not verify signature.\nother text\n"
        #expect(
            result.text == "in\nin again\n\(good)\(good)Good \"git\"\n", "\(result.text) \(result.errors)")
    }

    @Test func `a key that is made in the vault is one of OpenSSH's`() throws {
        let sandbox = try unlocked()
        let result = try run(
            #"""
            "$HOLDFAST" ssh generate keys/new > new.pub
            ssh-add -L | grep -c -F "$(cut -d' ' -f1,2 new.pub) keys/new"
            "$HOLDFAST" show keys/new --field 'private key' > new; ssh-keygen -y -f new | cmp - new.pub && echo same
            "$HOLDFAST" ssh generate keys/new 2>&1 | grep -c 'already an entry'
            cut -d' ' -f1,2 new.pub > authorized; rm new
            login -o IdentitiesOnly=yes -i new.pub "$(id -un)@server" echo in
            "$HOLDFAST" ssh generate none --tpm 2>&1 | grep -c 'no TPM was found'
            """#, in: sandbox)
        #expect(result.text == "1\nsame\n1\nin\n1\n", "\(result.text) \(result.errors)")
    }

    @Test(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: no SSH key is made in a TPM"))
    func `a key in the TPM signs on its machine, while the vault is open`() throws {
        let sandbox = try AgentSandbox()
        let (chip, other) = (try SoftwareTPM(), try SoftwareTPM())
        let here = ["HOLDFAST_TPM": chip.location]
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode, environment: here).code == 0)
        let result = try run(
            #"""
            export HOLDFAST_TPM=\#(chip.location)
            "$HOLDFAST" ssh generate chip --tpm > chip.pub; cut -d' ' -f1,3 chip.pub
            ssh-add -L | grep -c -F "$(cat chip.pub)"
            "$HOLDFAST" ssh generate chip --tpm 2>&1 | grep -c 'already an entry'
            cut -d' ' -f1,2 chip.pub > authorized
            login "$(id -un)@server" echo in || cat sshd.log >&2
            echo "me $(cut -d' ' -f1,2 chip.pub)" > signers
            sign() { echo text | ssh-keygen -Y sign -q -f chip.pub -n file 2>/dev/null; }
            sign > sig; echo text | ssh-keygen -Y verify -f signers -I me -n file -s sig | cut -d' ' -f1-2
            "$HOLDFAST" show chip --field 'TPM key' > key; test $(wc -c < key) -gt 66 && echo kept
            "$HOLDFAST" ssh generate asks --tpm > asks.pub; "$HOLDFAST" tag add asks ask-each-time > /dev/null
            echo text | setsid -w ssh-keygen -Y sign -q -f asks.pub -n file 2>/dev/null || echo asked
            "$HOLDFAST" lock; sign || echo locked
            "$HOLDFAST" lock --shut-down
            export HOLDFAST_TPM=\#(other.location)
            "$HOLDFAST" unlock --passcode-fd 5 5< passcode > /dev/null; eval "$("$HOLDFAST" ssh agent)"
            ssh-add -L | grep -c ' chip$'; sign || echo elsewhere
            """#, in: sandbox)
        #expect(
            result.text
                == "ecdsa-sha2-nistp256 chip\n1\n1\nin\nGood \"file\"\nkept\nasked\nlocked\n1\nelsewhere\n",
            "\(result.text) \(result.errors)")
    }

    @Test(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: no SSH key is made in a TPM"))
    func `a TPM that hangs holds up nothing but its own signatures`() throws {
        let sandbox = try AgentSandbox()
        let chip = try SoftwareTPM()
        let here = ["HOLDFAST_TPM": chip.location]
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode, environment: here).code == 0)
        let result = try run(
            #"""
            export HOLDFAST_TPM=\#(chip.location)
            "$HOLDFAST" ssh generate chip --tpm > chip.pub; "$HOLDFAST" ssh generate other > other.pub
            cat > sign.py <<'END'
            import base64, os, signal, socket, struct, subprocess
            def string(b): return struct.pack(">I", len(b)) + b
            def sign(file):
                blob = base64.b64decode(open(file).read().split()[1])
                c = socket.socket(socket.AF_UNIX); c.connect(os.environ["SSH_AUTH_SOCK"])
                c.sendall(string(b"\x0d" + string(blob) + string(b"data") + b"\0\0\0\0"))
                return c
            os.kill(\#(chip.process), signal.SIGSTOP)
            waiting = [sign("chip.pub") for _ in range(20)]
            print(sign("other.pub").recv(5)[4], flush=True)
            subprocess.run([os.environ["HOLDFAST"], "get", "greeting"])
            os.kill(\#(chip.process), signal.SIGCONT)
            print({c.recv(5)[4] for c in waiting})
            END
            python3 sign.py
            """#, in: sandbox)
        #expect(result.text == "14\n\(Prepared.greeting){14}\n", "\(result.text) \(result.errors)")
    }

    /// Its output is on the terminal that ssh is in front of, so it could write over a question there and have it
    /// answered.
    @Test func `a host that the agent is forwarded to has nothing asked on the terminal that it writes on`() throws {
        let sandbox = try unlocked()
        let result = try run(
            LeaseCommandTests.asking + #"""
                "$HOLDFAST" tag add keys/two ask-each-time 2> /dev/null
                export -f login; echo text > text
                echo 'ssh-keygen -Y sign -q -f two.pub -n file < text > sig 2> errors; echo code $?' > sign
                ask "login -A host 'cd $HOME; sh sign'" > screen
                grep -aoE 'code [0-9]+|on a display only|not shown' screen
                """#, in: sandbox)
        #expect(result.text == "on a display only\ncode 255\n", "\(result.text) \(result.errors)")
    }

    @Test func `a key that must not be forwarded is not offered to the other host`() throws {
        let sandbox = try unlocked()
        let listed = try run(
            """
            login -A "$(id -un)@server" ssh-add -L 2>/dev/null | cut -d' ' -f3 | sort
            """, in: sandbox)
        #expect(listed.text == "keys/two\none\n", "\(listed.text) \(listed.errors)")
        #expect(try sandbox.run("lock", "--shut-down").code == 0)
        try sandbox.sandbox.withItems { items in
            try items.change("one") { item in try item.addTag("no-forwarding") }
        }
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let file = try sandbox.file(
            """
            cd "$HOME"
            eval "$("$HOLDFAST" ssh agent)"
            \(Self.beginning[Self.beginning.range(of: "login() {")!.lowerBound...])
            ssh-add -L | cut -d' ' -f3 | sort
            login -A "$(id -un)@server" ssh-add -L 2>/dev/null | cut -d' ' -f3
            """.utf8)
        let result = try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 })
        #expect(result.text == "keys/two\none\nkeys/two\n", "\(result.text) \(result.errors)")
    }

    @Test func `keys that are added live in memory, for their time and until the lock`() throws {
        let sandbox = try unlocked()
        _ = try sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let result = try run(
            """
            ssh-keygen -q -t ed25519 -N '' -C added -f three; ssh-keygen -q -t rsa -b 1024 -N '' -f four
            ssh-add -q three; ssh-add -L | cut -d' ' -f3 | sort
            ssh-add -q four 2>/dev/null || echo too small
            cut -d' ' -f1,2 three.pub > authorized; login "$(id -un)@server" echo in
            ssh-add -q -d three; ssh-add -L | grep -c added || true
            ssh-add -q -d one.pub 2>/dev/null || echo stays
            ssh-add -q -t 1 three; await '[ "$(ssh-add -L | grep -c added)" = 0 ]'; echo expired
            ssh-add -q three; ssh-add -q -D; ssh-add -L | grep -c added || true
            ssh-add -q three; "$HOLDFAST" lock
            "$HOLDFAST" unlock --passcode-fd 5 > /dev/null 5< passcode; ssh-add -L | grep -c added || true
            """, in: sandbox)
        #expect(
            result.text
                == "added\nkeys/two\none\ntoo small\nin\n0\nstays\nexpired\n0\n0\n",
            "\(result.text) \(result.errors)")
    }

    /// A second server, `other`, and a key that is in the agent for certain hosts only: `bound user@host ...`. `onward`
    /// is run at the first server and goes to the second one.
    private static let destinations = """
        ssh-keygen -q -t ed25519 -N '' -C bound -f three; ssh-keygen -q -t ecdsa -b 256 -N '' -f host2
        cut -d' ' -f1,2 three.pub > authorized
        printf 'other %s\\n' "$(cut -d' ' -f1,2 host2.pub)" >> known
        sed "s|^HostKey .*|HostKey $HOME/host2|" sshd_config > sshd_config2
        sed "s|sshd_config|sshd_config2|" server > server2; chmod 700 server2
        me=$(id -un)
        cat > onward <<END
        exec ssh -F none -o ProxyCommand=$HOME/server2 -o UserKnownHostsFile=$HOME/known \\
            -o StrictHostKeyChecking=yes -o HostKeyAlias=other -o BatchMode=yes $me@other "\\$@"
        END
        bound() {
            ssh-add -q -D
            hops=(); for hop; do hops+=(-h "$hop"); done
            ssh-add -q -H known "${hops[@]}" three
        }
        shown() { grep -c bound || true; }

        """

    @Test func `a key that is for a host logs in there alone`() throws {
        let sandbox = try unlocked()
        let result = try run(
            Self.destinations + """
                bound "$me@server"
                ssh-add -L | shown
                login "$me@server" echo in || cat sshd.log >&2
                sh onward echo elsewhere 2>/dev/null || echo not elsewhere
                login -A "$me@server" ssh-add -L 2>/dev/null | shown
                ssh-keygen -Y sign -q -f three.pub -n file < known 2>/dev/null || echo no file
                bound nobody@server
                login "$me@server" echo in 2>/dev/null || echo not this user
                bound other
                login "$me@server" echo in 2>/dev/null || echo not this host
                sh onward echo there
                ssh-add -q three
                login "$me@server" echo free again
                "$HOLDFAST" ssh import three < three > /dev/null
                bound other; rm three
                login "$me@server" echo in 2>/dev/null || echo not by the item either
                """, in: sandbox)
        #expect(
            result.text == """
                1
                in
                not elsewhere
                0
                no file
                not this user
                not this host
                there
                free again
                not by the item either

                """, "\(result.text) \(result.errors)")
    }

    @Test func `a key that is for a second host is used through the first one alone`() throws {
        let sandbox = try unlocked()
        let result = try run(
            Self.destinations + """
                bound server 'server>other'
                login -A "$me@server" ssh-add -L 2>/dev/null | shown
                login -A "$me@server" sh "$HOME/onward" echo beyond || cat sshd.log >&2
                sh onward echo directly 2>/dev/null || echo not directly
                bound server other
                login -A "$me@server" sh "$HOME/onward" echo beyond 2>/dev/null || echo not through it
                sh onward echo directly
                """, in: sandbox)
        #expect(
            result.text == "1\nbeyond\nnot directly\nnot through it\ndirectly\n", "\(result.text) \(result.errors)")
    }

    /// The end of the added key, by a host's wish or by its time, is not the end of what holds the item.
    @Test func `a host on the way does not free an item from the hosts of its key`() throws {
        let sandbox = try unlocked()
        let result = try run(
            Self.destinations + """
                bound server 'server>other'
                "$HOLDFAST" ssh import three < three > /dev/null
                for words in -D "-d three.pub"; do
                    login -A "$me@server" sh -c "'cd $HOME; ssh-add -q $words 2>/dev/null; ssh-keygen -Y sign -q -f three.pub -n file < known'" \
                        2>/dev/null || echo held
                done
                ssh-add -q -D; ssh-add -q -t 1 -H known -h server three
                await '[ "$(ssh-add -L | grep -c bound)" = 0 ]'
                ssh-keygen -Y sign -q -f three.pub -n file < known 2>/dev/null || echo held after its time
                ssh-add -q -D; ssh-keygen -Y sign -q -f three.pub -n file < known > /dev/null && echo free by its user
                """, in: sandbox)
        #expect(result.text == "held\nheld\nheld after its time\nfree by its user\n", "\(result.text) \(result.errors)")
    }

    /// An agent whose pinentry says no and notes each question; `sign` tells the outcome of a signature, here or at the
    /// first server.
    private static let refusing =
        destinations + """
            cat > no <<END
            #!/bin/sh
            echo OK
            while read -r word rest; do
                case "\\$word" in
                CONFIRM) echo asked >> $HOME/asked; echo "ERR 83886194 Not confirmed";;
                OPTION | SET*) echo OK;;
                *) echo "ERR 536871187 Unknown IPC command";;
                esac
            done
            END
            chmod 700 no; export HOLDFAST_PINENTRY=$HOME/no
            "$HOLDFAST" lock --shut-down
            "$HOLDFAST" unlock --passcode-fd 5 > /dev/null 5< passcode; eval "$("$HOLDFAST" ssh agent)"
            "$HOLDFAST" ssh import item --in three > /dev/null
            there() { login -A "$me@server" sh -c "'cd $HOME; $*'" 2>/dev/null; }
            signing='ssh-keygen -Y sign -q -f three.pub -n file < known'
            sign() { if $1 "$signing" > sig 2>/dev/null && grep -q BEGIN sig; then echo signed; else echo refused; fi; }

            """

    /// What `ssh-add -c` says holds for the item with the same key, whatever a host does and when the time is over.
    @Test func `a host, and the end of its time, take no question from a key`() throws {
        let sandbox = try unlocked()
        let result = try run(
            Self.refusing + """
                for words in "-D" "-d three.pub" three; do
                    ssh-add -q -c three; there "ssh-add -q $words" || true
                    sign there; sign eval
                done
                ssh-add -q -D; ssh-add -q -c -t 1 three
                await '[ "$(ssh-add -L | grep -c bound)" = 0 ]'; sign eval
                sort -u asked
                ssh-add -q -d three.pub 2> /dev/null && sign eval
                """, in: sandbox)
        let refused = String(repeating: "refused\n", count: 7)
        #expect(result.text == refused + "asked\nsigned\n", "\(result.text) \(result.errors)")
    }

    @Test func `what is added beside an item does no more than the item allows`() throws {
        let sandbox = try unlocked()
        let result = try run(
            Self.refusing + """
                points() { grep -c -F "$(cut -d' ' -f2 three.pub)" || true; }
                ssh-add -q three; rm three; sign there
                "$HOLDFAST" tag add item no-forwarding > /dev/null
                sign eval; sign there; there ssh-add -L | points; ssh-add -L | points
                "$HOLDFAST" tag remove item no-forwarding > /dev/null
                "$HOLDFAST" cp item copy > /dev/null; "$HOLDFAST" tag add item ask-each-time > /dev/null
                sign eval; cat asked; sign there
                """, in: sandbox)
        #expect(
            result.text == "signed\nsigned\nrefused\n0\n1\nrefused\nasked\nrefused\n",
            "\(result.text) \(result.errors)")
    }

    /// Who is on the other side of a forwarded connection would otherwise shut the agent, and spend the attempts to
    /// open it.
    @Test func `a host neither locks the agent nor unlocks it`() throws {
        let sandbox = try unlocked()
        _ = try sandbox.sandbox.file(Self.client.utf8, "client.py")
        let result = try run(
            """
            printf '#!/bin/sh\\necho right\\n' > ask; chmod 700 ask
            export SSH_ASKPASS=$HOME/ask SSH_ASKPASS_REQUIRE=force DISPLAY=none
            cat > host.py <<'END'
            from client import *
            host = Agent()
            host.bind(b"x", b"s", b"", b"\\1")
            print({host.ask(b"\\x16" + string(b"theirs"))[0] for _ in range(2)})
            subprocess.run(["ssh-add", "-q", "-x"], stderr=subprocess.DEVNULL)
            print({host.ask(b"\\x17" + string(word))[0] for word in [b"wrong"] * 25 + [b"right"]})
            print(Agent().ask(b"\\x17" + string(b"right"))[0])
            END
            python3 host.py
            """, in: sandbox)
        #expect(result.text == "{5}\n{5}\n6\n", "\(result.text) \(result.errors)")
    }

    /// A client that sends what it likes, for Python.
    static let client = """
        import base64, os, socket, struct, subprocess
        def string(text): return struct.pack(">I", len(text)) + text
        class Agent:
            def __init__(self):
                self.socket = socket.socket(socket.AF_UNIX); self.socket.connect(os.environ["SSH_AUTH_SOCK"])
                self.stream = self.socket.makefile("rb")
            def ask(self, body):
                self.socket.sendall(string(body))
                size = self.stream.read(4)
                return self.stream.read(struct.unpack(">I", size)[0]) if size else b""
            def bind(self, host, session, signature, flag=b"\\0"):
                return self.ask(b"\\x1b" + string(b"session-bind@openssh.com") + string(host) + string(session)
                    + string(signature) + flag)[0]

        """

    @Test func `what a forwarded host adds leaves room for the user's keys`() throws {
        let sandbox = try unlocked()
        _ = try sandbox.sandbox.file(
            """
            from client import *
            from cryptography.hazmat.primitives import serialization
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            def key():
                key, raw = Ed25519PrivateKey.generate(), serialization.Encoding.Raw
                seed = key.private_bytes(raw, serialization.PrivateFormat.Raw, serialization.NoEncryption())
                public = key.public_key().public_bytes(raw, serialization.PublicFormat.Raw)
                return string(b"ssh-ed25519") + string(public) + string(seed + public) + string(b"comment")
            host = Agent()
            host.bind(b"", b"s", b"", b"\\1")
            print([host.ask(b"\\x19" + key() + b"\\2")[0] for _ in range(20)].count(6), host.ask(b"\\x13")[0])
            print([Agent().ask(b"\\x19" + key() + b"\\2")[0] for _ in range(50)].count(6))
            """.utf8, "room.py")
        _ = try sandbox.sandbox.file(Self.client.utf8, "client.py")
        let result = try run("/usr/bin/python3 room.py", in: sandbox)
        // The rules of the host's keys stay, though the keys are gone.
        #expect(result.text == "16 6\n48\n", "\(result.text) \(result.errors)")
    }

    @Test func `a connection that tells a host without its signature gets no key that is for a host`() throws {
        let sandbox = try unlocked()
        _ = try sandbox.sandbox.file(
            """
            from client import *
            host = base64.b64decode(open("host.pub").read().split()[1])
            key = base64.b64decode(open("three.pub").read().split()[1])
            def login(session):
                return string(session) + b"\\x32" + string(os.environ["ME"].encode()) + string(b"ssh-connection") \\
                    + string(b"publickey") + b"\\1" + string(b"ssh-ed25519") + string(key)
            def sign(agent, data): return agent.ask(b"\\x0d" + string(key) + string(data) + bytes(4))[0]
            empty = Agent()
            print(key in empty.ask(b"\\x0b"), sign(empty, login(b"s")))
            forged = string(b"ssh-ed25519") + string(bytes(64))
            lies = [(host, b"s", forged), (host, b"s", b""), (host, b"", forged), (host, b"s" * 129, forged),
                (b"", b"s", forged), (host[:-1], b"s", forged), (string(b"ssh-rsa") + string(b"\\3"), b"s", forged),
                (host, b"s", string(b"ssh-ed25519") + struct.pack(">I", 2**32 - 1)),
                (host, b"s", forged, b""), (host, b"s", forged, b"\\0\\0")]
            for lie in lies:
                agent = Agent()
                answers = agent.bind(*lie), key in agent.ask(b"\\x0b"), sign(agent, login(b"s"))
                removed = agent.ask(b"\\x12" + string(key))[0]
                print(answers == (5, False, 5), removed, agent.ask(b"\\x0b")[4])
            """.utf8, "lies.py")
        _ = try sandbox.sandbox.file(Self.client.utf8, "client.py")
        let result = try run(
            Self.destinations + """
                bound "$me@server"
                ME=$me python3 lies.py
                ssh-add -L | shown
                """, in: sandbox)
        let lie = "True 5 2\n"
        #expect(
            result.text == "True 5\n" + String(repeating: lie, count: 10) + "1\n", "\(result.text) \(result.errors)")
    }

    @Test func `slow, silent and lying clients cost nobody else, and what is no message ends`() throws {
        let sandbox = try unlocked()
        _ = try sandbox.sandbox.file(
            """
            import os, resource, socket, struct, subprocess
            limit = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limit[1]), limit[1]))
            def connect():
                client = socket.socket(socket.AF_UNIX); client.connect(os.environ["SSH_AUTH_SOCK"]); return client
            def ask(body):
                client = connect(); client.sendall(struct.pack(">I", len(body)) + body)
                size = client.recv(4); return client.recv(65536) if size else b"closed"
            silent = [connect() for _ in range(1000)]
            for client in silent[-20:]: client.sendall(struct.pack(">I", 16384) + b"\\x0b")
            for size in [0, 16385, 2**31, 2**32 - 1]:
                client = connect(); client.sendall(struct.pack(">I", size) + b"x" * 100)
                try: print(client.recv(1))
                except ConnectionResetError: print(b"")
            print([ask(body)[0] for body in
                [b"\\x0d\\xff\\xff\\xff\\xff", b"\\x63", b"\\x11\\0\\0\\0\\x07ssh-rsa", b"\\x0b\\0", b"\\x12\\0\\0\\0\\0"]])
            deaf = connect()
            deaf.setblocking(False)
            try:
                while True: deaf.send(struct.pack(">I", 1) + b"\\x0b")
            except BlockingIOError: pass
            print(subprocess.run(["ssh-add", "-L"], capture_output=True).stdout.count(b"\\n"))
            """.utf8, "hostile.py")
        let result = try run("python3 hostile.py", in: sandbox)
        #expect(
            result.text == "b''\nb''\nb''\nb''\n[5, 5, 5, 5, 5]\n2\n", "\(result.text) \(result.errors)")
    }

    @Test func `an agent that is started with it serves SSH at the place that is told, and leaves nothing there`()
        throws
    {
        let sandbox = try AgentSandbox()
        let agent = try Child(
            raw: ["agent", "--ssh"].map { Array($0.utf8) }, environment: sandbox.variables)
        // A client that comes before it has claimed the home starts one of its own, which would be the agent then. The
        // home is claimed before the sockets are made; from then on such an agent is refused.
        let folder = sandbox.runtime + "/holdfast"
        let isThere = Patience.wait {
            !agent.isRunning
                || (try? FileManager.default.contentsOfDirectory(atPath: folder))?.contains { $0.hasSuffix("ssh") }
                    == true
        }
        try #require(isThere && agent.isRunning)
        var told = try sandbox.run("ssh", "agent")
        while told.code != 0, agent.isRunning { told = try sandbox.run("ssh", "agent") }
        let path = try #require(told.text.split(separator: "'").dropFirst().first.map(String.init))
        #expect(path.hasPrefix(sandbox.runtime) && FileManager.default.fileExists(atPath: path))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try sandbox.run("ssh", "agent").text == told.text)
        #expect(try sandbox.run("lock", "--shut-down").code == 0)
        #expect(agent.wait() == 0 && !FileManager.default.fileExists(atPath: path))
    }

    @Test func `a path that no SSH program can write is refused`() throws {
        let sandbox = try AgentSandbox()
        let deep = sandbox.path + "/" + String(repeating: "d", count: 80)
        try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: false)
        try FileManager.default.moveItem(atPath: sandbox.home, toPath: deep + "/home")
        let places = ["HOLDFAST_HOME": deep + "/home", "XDG_RUNTIME_DIR": ""]
        let result = try sandbox.run("ssh", "agent", environment: places)
        #expect(result.code == 1 && result.output.isEmpty && result.errors.contains("too long"), "\(result.errors)")
        #expect(try sandbox.run("lock", "--shut-down", environment: places).code == 0)
    }

    @Test func `an agent locked by ssh-add gives nothing until its passphrase comes`() throws {
        let sandbox = try unlocked()
        let result = try run(
            """
            printf '#!/bin/sh\\ncat "$HOME/phrase"\\n' > ask; chmod 700 ask
            export SSH_ASKPASS=$HOME/ask SSH_ASKPASS_REQUIRE=force DISPLAY=none
            echo right > phrase; ssh-add -q -x 2>/dev/null
            ssh-add -L || true
            ssh-keygen -Y sign -q -f one.pub -n file < /dev/null 2>/dev/null || echo refused
            echo wrong > phrase; ssh-add -q -X 2>/dev/null || echo wrong
            echo right > phrase; ssh-add -q -X 2>/dev/null; ssh-add -L | wc -l
            """, in: sandbox)
        #expect(result.text == "The agent has no identities.\nrefused\nwrong\n2\n", "\(result.text) \(result.errors)")
    }

    /// It has no name, so neither a signal nor its absence leaves one.
    @Test func `the copy of a key whose passphrase is asked for goes however the import ends`() throws {
        let sandbox = try AgentSandbox()
        let memory = "/dev/shm/holdfast-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: memory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: memory) }
        let file = try sandbox.file(
            """
            cd "$HOME"; umask 077
            ssh-keygen -q -t ed25519 -N 'secret words' -a 1 -f five
            cat > ask <<'END'
            #!/bin/sh
            read -r name word state parent rest < /proc/$PPID/stat; kill -"$SIGNAL" "$parent"
            END
            chmod 700 ask
            export SSH_ASKPASS=$HOME/ask SSH_ASKPASS_REQUIRE=force DISPLAY=none XDG_RUNTIME_DIR=\(memory)
            for SIGNAL in HUP INT TERM KILL; do
                export SIGNAL; "$HOLDFAST" ssh import five --in five > /dev/null 2>&1; echo $?
            done
            ls -A "$XDG_RUNTIME_DIR"
            """.utf8)
        let result = try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 })
        #expect(result.text == "129\n130\n143\n137\n", "\(result.text) \(result.errors)")
    }

    @Test func `a key with a passphrase is stored without it, and other keys are refused`() throws {
        let sandbox = try unlocked()
        _ = try sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let result = try run(
            """
            printf '#!/bin/sh\\necho secret words\\n' > ask; chmod 700 ask
            export SSH_ASKPASS=$HOME/ask SSH_ASKPASS_REQUIRE=force DISPLAY=none XDG_RUNTIME_DIR=
            import() { "$HOLDFAST" ssh import "$@" --passcode-fd 5 5< passcode; }
            ssh-keygen -q -t ed25519 -N 'secret words' -a 1 -C locked -f five
            import five --in five 2> error | cmp - five.pub && echo imported
            import again --in five 2> error 3> other | cmp - five.pub && echo again
            ssh-keygen -q -t rsa -b 1024 -N '' -f six
            import six --in six 2> error || grep -o '2,048 to 4,096 bits' error
            echo no key | import seven 2> error || grep -o 'no private key' error
            grep tag error
            """, in: sandbox)
        #expect(
            result.text == "imported\nagain\n2,048 to 4,096 bits\nno private key\n", "\(result.text) \(result.errors)")
    }
}
