import Foundation
import TestSupport
import Testing

/// Commands without a terminal, and programs of others, that need the vault while it is locked.
@Suite struct UnlockForProgramTests {
    /// A pinentry that says what is in `says`, one line for each question, and writes down what it was asked.
    private static let beginning = #"""
        set -u; cd "$HOME"; umask 077
        cat > pinentry <<'END'
        #!/usr/bin/python3
        import os, sys
        print("OK", flush=True)
        for line in sys.stdin:
            if line.startswith("SETDESC "): open("FOLDER/asked", "a").write(line[8:])
            if line == "GETPIN\n":
                said = open("FOLDER/says").readline().rstrip("\n")
                print(said if said.startswith("ERR ") else "D " + said + "\nOK", flush=True)
            elif line.startswith(("OPTION ", "SET")): print("OK", flush=True)
            else: print("ERR 536871187 Unknown IPC command", flush=True)
        END
        sed -i "s,FOLDER,$HOME," pinentry; chmod 700 pinentry; : > asked
        export DISPLAY= WAYLAND_DISPLAY= HOLDFAST_PINENTRY=$HOME/pinentry
        alone() { setsid -w "$@" < /dev/null; }
        hf() { alone "$HOLDFAST" "$@"; }
        right() { cat passcode > says; }
        no() { echo 'ERR 83886179 Operation cancelled' > says; }
        lock() { "$HOLDFAST" lock > /dev/null; }
        end() { "$HOLDFAST" lock --shut-down > /dev/null; }
        asked() { wc -l < asked; }

        """#

    func run(_ script: String) throws -> Sandbox.Result {
        let sandbox = try AgentSandbox()
        _ = try sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let file = try sandbox.sandbox.file((Self.beginning + script).utf8, "script")
        return try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 })
    }

    @Test func `a command without a terminal has the passcode asked for, and the next one asks nothing`() throws {
        let result = try run(
            #"""
            right
            hf get greeting; hf get greeting; asked
            grep -c 'wants your vault to be unlocked, to use its entries' asked
            lock; echo '{{ holdfast://default/greeting }}' > template; hf inject --in template
            end; hf unlock | cut -c 1-8; hf unlock | cut -c 1-8; asked
            lock; printf 'protocol=https\nhost=h.example\nusername=u\npassword=p\n\n' > ask
            setsid -w "$HOLDFAST" git-credential store < ask; setsid -w "$HOLDFAST" git-credential get < ask | grep ^password
            tail -n 1 asked | grep -o 'for a password of git'
            """#)
        #expect(
            result.text
                == "Guten Tag\nGuten Tag\n1\n1\nGuten Tag\n\nunlocked\nunlocked\n3\npassword=p\nfor a password of git\n",
            "\(result.text) \(result.errors)")
    }

    @Test func `a no is remembered for all programs, and the user's own unlock is asked at once`() throws {
        let result = try run(
            #"""
            no; hf get greeting; echo "code $?"
            right; hf get greeting 2> errors; echo "code $?"; grep -c 'you refused to unlock it a moment ago' errors
            eval "$("$HOLDFAST" ssh agent)"; ssh-add -l
            asked
            hf unlock | cut -c 1-8; hf get greeting; lock; hf get greeting; asked
            """#)
        #expect(
            result.text
                == "code 3\ncode 3\n1\nThe agent has no identities.\n1\nunlocked\nGuten Tag\nGuten Tag\n3\n",
            "\(result.text) \(result.errors)")
    }

    @Test func `where the vault or the user says so, no command without a terminal asks`() throws {
        let result = try run(
            #"""
            right
            refuses() { hf get greeting 2> errors; echo "$? $(grep -c 'locked: there is no terminal to ask' errors) $(asked)"; }
            "$HOLDFAST" config set unlock.remember=no > /dev/null; refuses; rm -rf .config
            SUDO_UID=0 refuses
            chmod 755 runtime; refuses; chmod 700 runtime
            "$HOLDFAST" lock-policy set remember=never --passcode-fd 5 5< passcode > /dev/null 2>&1; refuses
            HOLDFAST_PINENTRY= refuses
            hf unlock | cut -c 1-8
            """#)
        #expect(
            result.text == "3 1 0\n3 1 0\n3 1 0\n3 1 0\n3 1 0\nunlocked\n", "\(result.text) \(result.errors)")
    }

    @Test func `without a terminal and a display a running agent says what to do`() throws {
        let result = try run(
            #"""
            export HOLDFAST_PINENTRY=
            "$HOLDFAST" unlock --passcode-fd 5 5< passcode > /dev/null; lock
            hf get greeting; echo "code $?"; hf unlock; echo "code $?"
            """#)
        #expect(result.text == "code 3\ncode 3\n", "\(result.text) \(result.errors)")
        let lines = result.errors.split(separator: "\n").filter { $0.contains("locked: there is no terminal") }
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains("run holdfast unlock on a terminal") }, "\(lines)")
    }

    @Test func `no passcode is asked for where another program in front could read it`() throws {
        let result = try run(
            LeaseCommandTests.asking + #"""
                export HOLDFAST_PINENTRY=; PASSCODE="$(cat passcode)\\n"
                "$HOLDFAST" unlock --passcode-fd 5 5< passcode > /dev/null; eval "$("$HOLDFAST" ssh agent)"
                "$HOLDFAST" ssh generate laptop > laptop.pub; lock
                ask 'cat > heard | ssh-add -l' 'could read what is typed' '\x04' | grep -c 'no identities'
                ask '{ sleep 60 < /dev/null & ssh-add -l; kill $!; }' 'Passcode: ' "$PASSCODE" | grep -c laptop; lock
                ask 'set -m; ssh-add -l; echo "back $?"; read -r line; echo "heard $line"; kill -9 %1' \
                    'Passcode: ' '\x1a' 'back 148' 'words\n' | grep -c 'heard words'
                "$HOLDFAST" status --json | grep -o '"remainingAttempts":[0-9]*'
                """#)
        #expect(result.text == "1\n1\n1\n\"remainingAttempts\":5\n", "\(result.text) \(result.errors)")
    }

    /// What a command asks for on its own.
    @Test func `no command asks for a secret where another program in front could read it`() throws {
        let result = try run(
            LeaseCommandTests.asking + #"""
                PASSCODE="$(cat passcode)\\n"; get='"$HOLDFAST" get greeting'
                ask "cat > heard | $get" 'could read what is typed' '\x04' | grep -c Passcode
                mkfifo later; ask "{ read -r line < later; exec cat < /dev/tty > heard; } < /dev/null | $get" 'Passcode: ' '!echo > later' \
                    'could read what is typed' "$PASSCODE\x04" | grep -c Guten
                ask "$get | cat" 'Passcode: ' "$PASSCODE" | grep -c Guten
                ask "$get | "'"$HOLDFAST" put copy' 'Passcode: ' "$PASSCODE" > /dev/null; "$HOLDFAST" get copy
                "$HOLDFAST" status --json | grep -o '"remainingAttempts":[0-9]*'
                """#)
        #expect(
            result.text == "0\n0\n1\nGuten Tag\n\"remainingAttempts\":5\n", "\(result.text) \(result.errors)")
    }

    @Test func `a question that says nothing of times opens the vault for no longer than usual`() throws {
        let result = try run(
            #"""
            left() { "$HOLDFAST" status --json | grep -o '"locksInSeconds":[0-9]*' | tr -dc 0-9; }
            right; hf unlock --idle 20h --timeout 100h > /dev/null; [ $(left) -le 900 ] && echo usual
            lock; hf unlock --idle 1m > /dev/null; [ $(left) -le 60 ] && echo shorter
            """#)
        #expect(result.text == "usual\nshorter\n", "\(result.text) \(result.errors)")
    }

    @Test func `ssh and git are asked for on their terminal after a lock`() throws {
        let result = try run(
            LeaseCommandTests.asking + #"""
                export HOLDFAST_PINENTRY=; PASSCODE="$(cat passcode)\\n"
                "$HOLDFAST" unlock --passcode-fd 5 5< passcode > /dev/null; eval "$("$HOLDFAST" ssh agent)"
                "$HOLDFAST" ssh generate laptop > laptop.pub; lock
                ask 'ssh-add -l' 'to use SSH keys' '' 'Passcode: ' "$PASSCODE" | grep -c laptop
                lock; echo text > text
                ask 'ssh-keygen -Y sign -q -f laptop.pub -n file < text > sig' 'Passcode: ' 'wrong\n' 'wrong passcode' '' 'Passcode: ' "$PASSCODE" > /dev/null
                head -n 1 sig
                lock; ask 'ssh-add -l; ssh-add -l' 'Passcode: ' '\n' | grep -c 'no identities'
                """#)
        #expect(
            result.text == "1\n-----BEGIN SSH SIGNATURE-----\n2\n", "\(result.text) \(result.errors)")
    }

    /// What a question that is open stops and turns off, nobody else would start and turn on again.
    private static let guarding =
        Sandbox.awaiting + LeaseCommandTests.asking + #"""
            export HOLDFAST_PINENTRY= TERM=xterm; PASSCODE="$(cat passcode)\\n"
            export -f await
            agent() { "$HOLDFAST" status --json | grep -o '"process": *[0-9]*' | grep -o '[0-9]*'; }
            pass() { "$HOLDFAST" unlock --passcode-fd 5 > /dev/null 5< passcode; eval "$("$HOLDFAST" ssh agent)"; }
            guards() { ps -o pid= --ppid "$(agent)"; }

            """#

    @Test func `an agent that is killed under its question gives the terminal of another program back`() throws {
        let result = try run(
            Self.guarding + #"""
                pass; "$HOLDFAST" ssh generate laptop > laptop.pub; "$HOLDFAST" tag add laptop ask-each-time 2> /dev/null
                sign='ssh-keygen -Y sign -q -f laptop.pub -n file < text > sig 2> /dev/null'; echo text > text
                killed() {
                    ask "$1; stty -a > before; $2; echo; echo back; await 'stty -a | cmp -s - before'; echo as before" \
                        "$3" "!kill -9 $(agent)" | grep . | tail -n 2; pass
                }
                killed true "$sign" 'not shown: '; killed 'stty -echo' "$sign" 'not shown: '
                lock; killed true 'ssh-add -l' 'Passcode: '
                """#)
        let each = "back\nas before\n"
        #expect(result.text == each + each + each, "\(result.text) \(result.errors)")
    }

    @Test func `a terminal is guarded while a question stands there, by a process that nobody else uses`() throws {
        let result = try run(
            Self.guarding + #"""
                pass; "$HOLDFAST" ssh generate laptop > laptop.pub; lock
                look="!ps -o pid=,sid=,tty= --ppid $(agent) | awk '{ print NR, \$1 == \$2, \$3 }' >> seen"
                ask 'ssh-add -l' 'Passcode: ' "$look" '' 'wrong\n' 'wrong passcode' "$look" '' "$PASSCODE" | grep -c laptop
                cat seen; guards; lock
                ask 'ssh-add -l' 'Passcode: ' "!kill -9 \$(ps -o pid= --ppid $(agent))" '' "$PASSCODE" | grep -c laptop
                guards; lock
                # The agent lets go of the program first; with it the terminal would be gone before the words are there.
                ask 'ssh-add -l; read -r' 'Passcode: ' "!\$HOLDFAST lock --shut-down > /dev/null" \
                    'no longer open' '\n' | grep -c 'no longer open'
                for words in guard-terminal 'guard-terminal 8' 'guard-terminal 8 8' 'guard-terminal 4294967295'; do
                    true | "$HOLDFAST" $words > out 2>&1; echo "$? $(grep -c 'unknown command' out)"
                done
                """#)
        #expect(
            result.text == "1\n1 1 ?\n1 1 ?\n1\n1\n2 1\n2 1\n2 1\n2 1\n", "\(result.text) \(result.errors)")
    }
}
