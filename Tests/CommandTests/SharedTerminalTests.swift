import RealParts
import TestSupport
import Testing

/// On which terminals a passcode is asked for, where other programs or file systems are.
@Suite struct SharedTerminalTests {
    private func run(_ script: String) throws -> Sandbox.Result {
        try UnlockForProgramTests().run(Sandbox.awaiting + LeaseCommandTests.asking + Self.beginning + script)
    }

    private static let beginning = #"""
        export PASSCODE="$(cat passcode)\\n"
        pass() { "$HOLDFAST" unlock --passcode-fd 5 > /dev/null 5< passcode; eval "$("$HOLDFAST" ssh agent)"; }
        begin() { pass; "$HOLDFAST" ssh generate laptop > laptop.pub; lock; }
        shared='could read what is typed'

        """#

    @Test(.enabled(if: Mounted.isAllowed))
    func `a program with a file system of its own is asked for in a dialog, which says so`() throws {
        let result = try run(
            #"""
            begin; right; unshare -m ssh-add -l | grep -c laptop; lock
            unshare -m bash -c "mount --bind $(command -v ssh-add) /usr/bin/env; exec env -l" | grep -c laptop
            sed 's/(process [0-9]*)/(N)/; s/%0A.*//' asked
            end; export HOLDFAST_PINENTRY=; pass; lock
            ask 'unshare -m ssh-add -l' > shown; grep -c Passcode shown; grep -c 'no identities' shown
            """#)
        let words = { (path: String) in
            "a program with a file system of its own, which is '\(path)' there (N), wants your vault"
        }
        let lines = result.text.split(separator: "\n").map { String($0) }
        #expect(
            lines.count == 6 && lines[..<2] == ["1", "1"] && lines[4...] == ["0", "1"], "\(lines) \(result.errors)")
        guard lines.count == 6 else { return }
        #expect(lines[2].hasPrefix(words("/usr/bin/ssh-add")) && lines[3].hasPrefix(words("/usr/bin/env")), "\(lines)")
    }

    /// Runs a command on a terminal of another devpts, which has the number of the one that this runs on, and prints
    /// what came there.
    private static let foreign = #"""
        cat > foreign.py <<'END'
        import ctypes, fcntl, os, pty, socket, sys, termios
        number = int(os.ttyname(0).rsplit("/", 1)[1])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        here, there = socket.socketpair()
        if os.fork() == 0:
            if ctypes.CDLL(None).unshare(0x20000) != 0: os._exit(1)
            if os.system("mount --make-rprivate / && mount -t devpts -o newinstance,ptmxmode=666 d /dev/pts") != 0:
                os._exit(1)
            found, kept = -1, []
            while found < number:
                screen = os.open("/dev/pts/ptmx", os.O_RDWR | os.O_NOCTTY)
                fcntl.ioctl(screen, 0x40045431, b"\0\0\0\0")
                found = int.from_bytes(fcntl.ioctl(screen, 0x80045430, b"\0\0\0\0"), sys.byteorder)
                kept.append(screen)
            terminal = os.open(f"/dev/pts/{number}", os.O_RDWR | os.O_NOCTTY)
            socket.send_fds(there, [b"x"], [screen, terminal])
            os._exit(0)
        there.close()
        _, (screen, terminal), _, _ = socket.recv_fds(here, 1, 2)
        if os.fork() == 0:
            os.setsid(); fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
            for descriptor in range(3): os.dup2(terminal, descriptor)
            os.closerange(3, 100)
            os.execvp(sys.argv[1], sys.argv[1:])
        os.close(terminal)
        try:
            while more := os.read(screen, 4096): os.write(1, b"THERE " + more)
        except OSError: pass
        END

        """#

    @Test(.enabled(if: Mounted.isAllowed))
    func `no question is asked on a terminal that only has the number of the asker's`() throws {
        let result = try run(
            Self.foreign + #"""
                begin; end; export HOLDFAST_PINENTRY=; pass; lock
                ask 'exec /usr/bin/python3 foreign.py ssh-add -l' > shown; cat shown
                """#)
        #expect(result.text == "THERE The agent has no identities.\n", "\(result.text) \(result.errors)")
    }

    @Test(.enabled(if: Mounted.isAllowed))
    func `what waits on a container's terminal of the same number reads nothing of this one`() throws {
        let result = try run(
            Self.foreign + #"""
                pass; printf kept | "$HOLDFAST" put note; lock; mkfifo there
                cat > beside <<'END'
                /usr/bin/python3 foreign.py sh -c 'echo; exec cat' < "$(tty)" > there & foreign=$!
                read -r _ < there
                "$HOLDFAST" get note --no-agent
                kill $foreign; wait $foreign
                END
                ask 'bash beside; :' 'Passcode: ' "$PASSCODE" | grep -c kept
                """#)
        #expect(result.text == "1\n", "\(result.text) \(result.errors)")
    }

    /// Asks the agent for its keys and waits for the answer as it is told: in `recv`, or in `select`, as a program that
    /// hands on what a host asks.
    private static let relay = #"""
        cat > relay.py <<'END'
        import os, select, socket, sys
        agent = socket.socket(socket.AF_UNIX)
        agent.connect(os.environ["SSH_AUTH_SOCK"])
        agent.sendall(b"\0\0\0\1\x0b")
        if sys.argv[1] == "select":
            ready = select.select([agent, 0], [], [])[0]
            if agent not in ready: print("READ", os.read(0, 99)); sys.exit()
        print("answer", agent.recv(9)[4])
        END

        """#

    @Test func `a program that may read the terminal itself has no passcode asked for there`() throws {
        let result = try run(
            Self.relay + #"""
                begin; end; export HOLDFAST_PINENTRY=; pass; lock
                ask '/usr/bin/python3 relay.py recv' 'Passcode: ' "$PASSCODE" | grep -c 'answer 12'; lock
                ask '/usr/bin/python3 relay.py select' "$shared" '' | grep -c 'answer 12'
                """#)
        #expect(result.text == "1\n1\n", "\(result.text) \(result.errors)")
    }

    @Test func `a program that waits for the asker is no reader, and one that looks at the terminal is`() throws {
        let result = try run(
            #"""
            cat > above.py <<'END'
            import os, select, subprocess, sys, threading
            child = subprocess.Popen(["ssh-add", "-l"], stdin=subprocess.DEVNULL)
            if sys.argv[1] == "thread": threading.Thread(target=lambda: os.read(0, 99), daemon=True).start()
            if sys.argv[1] == "select": select.select([0, os.pidfd_open(child.pid)], [], [])
            child.wait()
            END
            begin; end; export HOLDFAST_PINENTRY=; pass; lock
            ask 'x=$(ssh-add -l); echo "$x"' 'Passcode: ' "$PASSCODE" | grep -c laptop; lock
            ask '/usr/bin/python3 above.py wait' 'Passcode: ' "$PASSCODE" | grep -c laptop; lock
            ask '/usr/bin/python3 above.py select' "$shared" '' | grep -c 'no identities'
            ask '/usr/bin/python3 above.py thread' "$shared" '' | grep -c 'no identities'
            """#)
        #expect(result.text == "1\n1\n1\n1\n", "\(result.text) \(result.errors)")
    }

    @Test func `the echo is not turned on for a program that reads without it when a question is over`() throws {
        let result = try run(
            #"""
            begin; end; export HOLDFAST_PINENTRY=; pass; lock
            agent=$("$HOLDFAST" status --json | grep -o '"process": *[0-9]*' | grep -o '[0-9]*')
            cat > taken <<END
            until [ -e dark ] && grep -q 'woken\|tty' /proc/\$(cat reader)/wchan; do sleep 0.05; done
            kill -CONT $agent
            while [ -n "\$(ps -o pid= --ppid $agent)" ]; do sleep 0.05; done
            END
            script='trap : INT; echo $$ > reader; ssh-add -l; stty -echo; : > dark; read -r; stty -a; stty echo'
            export script; ask 'bash -c "$script"; :' \
                'Passcode: ' "!kill -STOP $agent" '' '\x03' '' '!bash taken' '' 'words\n' > shown
            grep -o -- ' -echo ' shown; grep -c words shown
            """#)
        #expect(result.text == " -echo \n0\n", "\(result.text) \(result.errors)")
    }

    @Test func `a reader that comes during the question ends it`() throws {
        let result = try run(
            #"""
            begin; end; export HOLDFAST_PINENTRY=; pass; lock; export -f await
            ask 'ssh-add -l & await "[ -e come ]" < /dev/null; cat > heard; wait' \
                'Passcode: ' 'half' '' '!touch come' "$shared" '\x04' | grep -c 'no identities'
            cat heard; "$HOLDFAST" status --json | grep -o '"remainingAttempts":[0-9]*'
            """#)
        #expect(result.text == "1\n\"remainingAttempts\":5\n", "\(result.text) \(result.errors)")
    }
}
