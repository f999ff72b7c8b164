import RealParts
import TestSupport
import Testing

/// On which terminals a passcode is asked for, where other programs or file systems are.
@Suite struct SharedTerminalTests {
    private func run(_ script: String) throws -> Sandbox.Result {
        try UnlockForProgramTests().run(Sandbox.awaiting + LeaseCommandTests.asking + Self.beginning + script)
    }

    private static let beginning = #"""
        pass() { "$HOLDFAST" unlock --passcode-fd 5 > /dev/null 5< passcode; eval "$("$HOLDFAST" ssh agent)"; }
        begin() { pass; "$HOLDFAST" ssh generate laptop > laptop.pub; lock; }

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
        let words = { "a program with a file system of its own, which is '\($0)' there (N), wants your vault" }
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
}
