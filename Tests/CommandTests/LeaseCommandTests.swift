import Foundation
import Items
import TestSupport
import Testing
import VaultFormat

/// Questions on real terminals and with the real pinentry programs, and the commands for leases.
@Suite struct LeaseCommandTests {
    /// `ask.py COMMAND [WAIT TYPE]...` runs a shell command in a session with a terminal, types each text after what it
    /// waits for (or runs it, behind `!`), and prints what came, without the change to another screen. WORD in a text
    /// is the word of the last question.
    static let asking = #"""
        cat > ask.py <<'END'
        import os, pty, re, select, sys
        command, pairs = sys.argv[1], sys.argv[2:]
        process, screen = pty.fork()
        if process == 0: os.execvp("bash", ["bash", "-c", command])
        seen = b""
        def fill():
            global seen
            if not select.select([screen], [], [], \#(Patience.seconds))[0]:
                print("NOTHING COMES BEHIND", repr(seen)); os.kill(process, 9); sys.exit(1)
            try: more = os.read(screen, 4096)
            except OSError: more = b""
            seen += more
            return more
        position = 0
        for wait, text in zip(pairs[::2], pairs[1::2]):
            while (found := seen.find(wait.encode(), position)) < 0:
                if not fill(): print("ENDED BEFORE", wait, repr(seen)); sys.exit(1)
            position = found + len(wait)
            if text[:1] == "!": os.system(text[1:])
            else:
                words = re.findall(rb'Type "([a-z]+)"', seen[:position])
                text = text.replace("WORD", words[-1].decode() if words else "")
                os.write(screen, text.encode().decode("unicode_escape").encode())
        while fill(): pass
        shown = re.sub("\x1b\\[([?]1049[hl]|2J|H)", "\n", seen.decode(errors="replace"))
        sys.stdout.write(shown.replace("\r", ""))
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
        END
        ask() { /usr/bin/python3 ask.py "$@"; }

        """#
    static let beginning =
        "set -u; cd \"$HOME\"\n" + asking + #"""
            pass() { "$HOLDFAST" unlock --passcode-fd 5 > /dev/null 5< passcode; }
            pass

            """#

    private func run(
        _ script: String, in sandbox: AgentSandbox, environment: [String: String] = [:]
    ) throws -> Sandbox.Result {
        _ = try sandbox.sandbox.file((Prepared.passcode + "\n").utf8, "passcode")
        let file = try sandbox.sandbox.file((Sandbox.awaiting + Self.beginning + script).utf8, "script")
        let variables = ["HOLDFAST": Program.path, "TERM": "xterm", "DISPLAY": "", "WAYLAND_DISPLAY": ""]
        return try sandbox.sandbox.run(
            "/bin/bash", raw: [Array(file.utf8)],
            environment: sandbox.variables.merging(variables) { $1 }.merging(environment) { $1 })
    }

    private func sandbox() throws -> AgentSandbox {
        let sandbox = try AgentSandbox()
        try sandbox.sandbox.withItems { items in
            for (name, tag) in [("each", "ask-each-time"), ("lock", "ask-until-lock")] {
                var item = try Item(.login)
                try item.add(.secret, "password", secret("value of \(name)"))
                try item.addTag(tag)
                try items.add(item, as: name)
            }
        }
        return sandbox
    }

    @Test func `the agent asks on the terminal that the command runs in, and only a yes is one`() throws {
        let result = try run(
            #"""
            show='"$HOLDFAST" show each --field password'
            ask "$show" 'allow it once, ' 'WORD\n' | tail -n 1
            for no in '\n' 'y\n' 'x\n' 'WORDS\n' 'yes WORD\n' '\x04'; do
                ask "$show" 'allow it once, ' "$no" | grep -c 'refused'
                "$HOLDFAST" lock; pass
            done
            ask "$show" 'allow it once, ' '\x03' > /dev/null; echo "interrupted $?"
            ask 'X=holdfast://default/each "$HOLDFAST" run -- printenv X' 'allow it once, ' 'WORD\n' | tail -n 1
            echo '{{ holdfast://default/each }}' > template
            ask '"$HOLDFAST" inject --in template' 'allow it once, ' 'WORD\n' | tail -n 1
            ask "$show" 'wants to use' '' 'allow it once, ' 'WORD\n' | grep -m 1 'wants to use' | sed 's/(process [0-9]*)/(N)/; s,/.*/holdfast,holdfast,'
            """#, in: sandbox())
        // Only the administrator's agent sees a program that hides.
        let hidden = "a program that hides itself, as Holdfast's do, and calls itself 'holdfast'"
        let who = geteuid() == 0 ? "'holdfast'" : hidden
        let expected = """
            value of each
            1
            1
            1
            1
            1
            1
            interrupted 254
            value of each
            value of each
            holdfast: \(who) (N) wants to use 'each'. You have 60 s.

            """
        #expect(result.text == expected, "\(result.text) \(result.errors)")
    }

    @Test func `what is allowed until the lock is listed and revoked, and holds in its session alone`() throws {
        let result = try run(
            #"""
            show='"$HOLDFAST" show lock --field password'
            ask "$show; echo; $show" 'for this time, ' 'WORD\n' | grep -c 'value of lock'
            ask "$show; echo; $show" 'for this time, ' 'once WORD\n' 'for this time, ' 'WORD\n' | grep -c 'value of lock'
            ask "$show > /dev/null; \$HOLDFAST leases list; \$HOLDFAST leases list --json" 'for this time, ' 'WORD\n' > list
            sed -n 's/.* \(lock  *at the lock\)$/\1/p' list | tr -s ' ' | sort -u
            grep -o '"collection":"default","endsInSeconds":null,"name":"lock"' list | sort -u
            ask "\$HOLDFAST leases add lock --for 60; $show; \$HOLDFAST leases revoke; $show" \
                'for a minute, "once' '' 'not shown: ' 'WORD\n' 'for this time, ' 'n\n' | grep -c 'value of lock\|refused this\|Ended'
            "$HOLDFAST" leases revoke 99; echo "code $?"
            ask '"$HOLDFAST" tag add lock other; "$HOLDFAST" tag remove each ask-each-time' 'for this time, ' 'once WORD\n' 'allow it once, ' 'WORD\n' \
                | grep -c 'wants to use'
            "$HOLDFAST" show each --field password
            """#, in: sandbox())
        let expected = """
            2
            2
            lock at the lock
            "collection":"default","endsInSeconds":null,"name":"lock"
            3
            code 6
            2
            value of each
            """
        #expect(result.text == expected, "\(result.text) \(result.errors)")
    }

    /// What is erased tells whether it was the password.
    @Test func `erasing an account by its password asks before it compares`() throws {
        let result = try run(
            #"""
            printf 'protocol=https\nhost=h.example\nusername=ada\npassword=right\n' > right; sed s/right/wrong/ right > wrong
            "$HOLDFAST" git-credential store < right; name=https://ada@h.example
            "$HOLDFAST" tag add --collection git "$name" ask-each-time > /dev/null
            there() { "$HOLDFAST" list --collection git | grep -c "$name"; }
            for guess in right wrong; do setsid -w "$HOLDFAST" git-credential erase < $guess 2> /dev/null; there; done
            ask '"$HOLDFAST" git-credential erase < right' 'allow it once, ' 'n\n' > /dev/null; there
            ask '"$HOLDFAST" git-credential erase < wrong' 'allow it once, ' 'WORD\n' > /dev/null; there
            ask '"$HOLDFAST" git-credential erase < right' 'allow it once, ' 'WORD\n' > /dev/null; there
            """#, in: sandbox())
        #expect(result.text == "1\n1\n1\n1\n0\n", "\(result.text) \(result.errors)")
    }

    @Test func `what was typed before the question, and a terminal that a program has for itself, are no answer`()
        throws
    {
        let result = try run(
            #"""
            typed='/usr/bin/python3 -c "import select; print("go", flush=True); select.select([0], [], [])"'
            ask "$typed; $HOLDFAST show each --field password" 'go' 'y\ny\n' 'allow it once, ' 'WORD\n' | grep -c 'value of each'
            "$HOLDFAST" lock; pass
            ask "stty raw; $HOLDFAST show each --field password" | grep -c 'you cannot be asked'
            ask "set -m; $HOLDFAST show each --field password > out 2>&1 & wait; cat out" | grep -c 'you cannot be asked'
            """#, in: sandbox())
        #expect(result.text == "1\n1\n1\n", "\(result.text) \(result.errors)")
    }

    /// What a program in front shows may come from another host, and be made to look like the question's end.
    @Test func `whoever writes to the terminal is stopped while a question stands there, and y is no answer`() throws {
        let result = try run(
            #"""
            show='tty > where; "$HOLDFAST" show each --field password'
            write='!for i in $(seq 200); do timeout 1 sh -c "printf . > $(cat where)" || { echo stopped > end; break; }; done'
            ask "$show" 'allow it once, ' "$write" 'not shown: ' 'WORD\n' > screen; cat end; tail -n 1 screen
            ask "$show" 'allow it once, ' 'y\n' | grep -c 'the user refused this'
            """#, in: sandbox())
        #expect(result.text == "stopped\nvalue of each\n1\n", "\(result.text) \(result.errors)")
    }

    @Test func `an agent that is killed under its question leaves the terminal usable`() throws {
        let result = try run(
            #"""
            agent=$("$HOLDFAST" status --json | grep -o '"process": *[0-9]*' | grep -o '[0-9]*')
            ask '"$HOLDFAST" show each --field password; echo back $?' 'not shown: ' "!kill -9 $agent" \
                'Passcode: ' "$(cat passcode)\n" | tail -n 2
            """#, in: sandbox())
        #expect(result.text.hasSuffix("value of each\nback 0\n"), "\(result.text) \(result.errors)")
    }

    @Test func `another name for an item that asks is a use of it, and so is its way back from the trash`() throws {
        let result = try run(
            #"""
            printf x > value; "$HOLDFAST" put plain < value
            for words in 'mv each weather' 'cp each weather' 'mv plain other'; do
                "$HOLDFAST" $words < /dev/null > out 2>&1; echo "$words: $? $(grep -c 'asked' out)"
            done
            ask '"$HOLDFAST" mv each weather' "wants to use 'each'" '' 'allow it once, ' 'WORD\n' > /dev/null; echo "allowed: $?"
            "$HOLDFAST" rm weather > /dev/null
            "$HOLDFAST" trash restore weather --as sun < /dev/null > out 2>&1; echo "restored: $? $(grep -c 'asked' out)"
            ask '"$HOLDFAST" trash restore weather --as sun' "wants to use 'weather'" '' 'allow it once, ' 'WORD\n' > /dev/null
            echo "allowed: $?"
            "$HOLDFAST" list --long | cut -f 2 | sort | paste -sd ' ' -
            """#, in: sandbox())
        let expected = """
            mv each weather: 7 1
            cp each weather: 7 1
            mv plain other: 0 0
            allowed: 0
            restored: 7 1
            allowed: 0
            big greeting lock other sun

            """
        #expect(result.text == expected, "\(result.text) \(result.errors)")
    }

    @Test func `without a terminal nothing is given, and the passcode opens the vault without the agent`() throws {
        let result = try run(
            #"""
            setsid -w "$HOLDFAST" show each --field password < /dev/null; echo "code $?"
            setsid -w "$HOLDFAST" show each --field password --passcode-fd 5 5< passcode
            """#, in: sandbox())
        #expect(result.text == "code 7\nvalue of each", "\(result.text) \(result.errors)")
        #expect(result.errors.contains("you cannot be asked"))
    }

    private static let pinentries = TestRun.expected([
        ("/usr/bin/pinentry-tty", "a", "r"), ("/usr/bin/pinentry-curses", #"\r"#, #"\t\r"#),
    ]) { FileManager.default.isExecutableFile(atPath: $0.0) }

    @Test(arguments: pinentries)
    func `a pinentry that is named asks on the client's terminal`(_ program: String, yes: String, no: String) throws {
        let result = try run(
            #"""
            show='"$HOLDFAST" show each --field password'
            ask "$show" 'efuse' "$YES" | tail -n 1 | grep -ao 'value of each'
            ask "$show; stty -a" 'efuse' "$NO" > screen; grep -ac 'the user refused this' screen
            grep -aow 'icanon' screen
            """#, in: sandbox(), environment: ["HOLDFAST_PINENTRY": program, "YES": yes, "NO": no])
        #expect(result.text == "value of each\n1\nicanon\n", "\(result.text) \(result.errors)")
    }

    @Test(arguments: pinentries)
    func `after Ctrl+Z what is typed is for the shell, and allows nothing`(
        _ program: String, yes: String, no: String
    ) throws {
        let result = try run(
            #"""
            gone='!while pgrep -P "$(pgrep -f -- "--home=$HOLDFAST_HOME")" > /dev/null; do sleep 0.02; done'
            ask 'set -m; "$HOLDFAST" show each; echo "back $?"; stty sane; read -r line; echo "heard $line"; kill -9 %1' \
                'efuse' '\x1a' 'back 148' "$gone" '' "$YES\n" | grep -ao 'heard.*'
            "$HOLDFAST" leases
            """#, in: sandbox(), environment: ["HOLDFAST_PINENTRY": program, "YES": yes])
        #expect(result.text == (yes == "a" ? "heard a\n" : "heard \n"), "\(result.text) \(result.errors)")
    }

    /// A terminal of another kind, which the agent and pinentry find by themselves.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/tmux"),
            "tmux is not installed: nobody is asked in it"),
        arguments: pinentries.map { ($0.0, $0.0.hasSuffix("tty") ? ("a", "r") : ("Enter", "Tab Enter")) } + [
            ("", ("WORD Enter", "n Enter"))
        ])
    func `in tmux the agent itself and each pinentry ask in the window of the program`(
        _ program: String, _ keys: (yes: String, no: String)
    ) throws {
        let result = try run(
            #"""
            export TMUX_TMPDIR=$HOME TERM=screen
            n=0
            # ask_in_tmux KEYS: types them when the question is on the screen, and prints what the program wrote.
            ask_in_tmux() {
                rm -f ended
                # One server for each: with its last session it ends, and would take a new one along.
                n=$((n + 1)); T="tmux -L test$n -f /dev/null"
                $T new-session -d -x 300 -y 40 "'$HOLDFAST' show each --field password > out 2> errors; echo > ended"
                # Wide, because a line that is broken is not found; and what ended without a question has ended.
                await '[ -e ended ] || $T capture-pane -p | grep -q efuse'
                word=$($T capture-pane -p | sed -n 's/.*Type "\([a-z]*\)".*/\1/p')
                $T send-keys ${1/WORD/$word}
                await '[ -e ended ]'
                cat out; grep -o 'refused this' errors
                await '! $T ls 2> /dev/null'
            }
            ask_in_tmux "$YES"; echo; ask_in_tmux "$NO"
            """#, in: sandbox(), environment: ["HOLDFAST_PINENTRY": program, "YES": keys.yes, "NO": keys.no])
        #expect(result.text == "value of each\nrefused this\n", "\(result.text) \(result.errors)")
    }

    @Test func `a key added with -c, and an item that asks, are asked for at every signature`() throws {
        let result = try run(
            #"""
            ssh-keygen -q -t ed25519 -N '' -f one; ssh-keygen -q -t ecdsa -b 256 -N '' -f two
            eval "$("$HOLDFAST" ssh agent)"
            "$HOLDFAST" ssh import item --in two > /dev/null; "$HOLDFAST" tag add item ask-each-time 2> /dev/null
            rm two; ssh-add -q -c one; rm one
            ssh-add -L | wc -l
            echo text > text
            for key in one two; do
                sign="ssh-keygen -Y sign -q -f $key.pub -n file < text > sig"
                for answer in 'WORD\n' 'WORD\n' 'n\n'; do
                    ask "$sign 2> errors; echo code \$?" 'allow it once, ' "$answer" | grep 'code'
                done
                setsid -w sh -c "$sign 2> errors"; test -s sig || echo nobody
            done
            """#, in: sandbox())
        let each = "code 0\ncode 0\ncode 255\nnobody\n"
        #expect(result.text == "2\n" + each + each, "\(result.text) \(result.errors)")
    }
}
