"""The desktop app as a pinentry program: what another program wants to have asked, and what the agent asks."""

import functools
import json
import os
import pathlib
import subprocess
import threading

from driver import App, Bus, Atspi, Device, until


class Prompt(App):
    """The app that asks, and the other end of its pipes."""

    def __init__(self, program, scratch, arguments=("--ask",), argv=None):
        self.log = open(scratch / "prompt.log", "ab")
        self.process = subprocess.Popen(
            [argv or program, *arguments], executable=program, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.log, cwd=scratch,
        )
        self.bus = Bus()
        self.hears("OK Pleased to meet you")

    @functools.cached_property
    def place(self):
        """It comes onto the accessibility bus with its first question."""
        return until(self._place, "the app is on the accessibility bus")

    def says(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines).encode())
        self.process.stdin.flush()

    def hears(self, *lines):
        heard = [self.process.stdout.readline().decode().rstrip("\n") for _ in lines]
        assert heard == list(lines), (heard, lines)

    def asks(self, *lines):
        """Says what is answered at once, and the last line, which is not."""
        self.says(*lines)
        self.hears(*["OK"] * (len(lines) - 1))

    def ends(self):
        self.says("BYE")
        self.hears("OK closing connection")
        status = self.process.wait(timeout=60)
        self.log.close()
        return status


class Begun(App):
    """The app that another program has begun."""

    class Process:
        def __init__(self, pid):
            self.pid = pid

        def poll(self):
            return None

    def __init__(self, program, scratch):
        self.bus = Bus()
        self.program = pathlib.Path(program)
        self.process = Begun.Process(until(self.number, "the agent has begun the app"))
        self.place = until(self._place, "the app is on the accessibility bus")

    def number(self):
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if process.joinpath("exe").readlink() == self.program and (
                    process.joinpath("cmdline").read_bytes() == b"pinentry\0"
                ):
                    return int(process.name)
            except OSError:
                continue
        return None


def play(program, scratch, passcode, check, go):
    protocol(program, scratch, check)
    of_the_agent(program, scratch, passcode, check, go)


def protocol(program, scratch, check):
    app = Prompt(program, scratch)
    app.says("HOLDFAST")
    app.hears("ERR 83886355 Unknown IPC command <Pinentry>")
    words = ["SETTITLE A%20title", "SETDESC Line%0Aone %26 <b>two</b>", "SETOK Allow", "SETCANCEL Refuse"]
    app.asks(*words, "SETTIMEOUT 600", "CONFIRM")
    app.find("A title")
    app.find("Line\none & <b>two</b>")
    app.find(part="seconds left")
    app.focus()
    no = app.find("Refuse", "push button")
    check(no.has(Atspi.StateType.FOCUSED), "Enter is no yes")
    check(not app.all(role="password text"), "no secret is asked for")
    app.shot("prompt")
    # What was said while it asks is heard afterwards.
    app.says("CONFIRM")
    app.press("Allow")
    app.hears("OK")
    app.press("Refuse")
    app.hears("ERR 83886194 Not confirmed <Pinentry>")
    app.asks("CONFIRM")
    app.find("Allow", "push button")
    app.focus()
    app.keys("Escape")
    app.hears("ERR 83886179 Operation cancelled <Pinentry>")
    app.asks("SETTIMEOUT 1", "CONFIRM")
    app.hears("ERR 83886142 Timeout <Pinentry>")

    app.asks("SETTIMEOUT 0", "SETPROMPT PIN:", "SETERROR Not right.", "GETPIN")
    app.find("Not right.")
    app.type("PIN:", "100% sécret")
    app.shot("prompt_secret")
    app.press("Allow")
    app.hears("D 100%25 sécret", "OK")
    app.asks("GETPIN")
    app.find("PIN:", "password text")
    check("sécret" not in app.said(), "the next question has nothing of the last answer")
    check(not app.all("Not right."), "what was wrong is said once")
    app.type("PIN:", "x" * 700)
    app.press("Allow")
    app.hears("D " + "x" * 300, "D " + "x" * 300, "D " + "x" * 100, "OK")
    app.asks("GETPIN")
    app.press("Refuse")
    app.hears("ERR 83886179 Operation cancelled <Pinentry>")
    check(app.ends() == 0, "it ends with the program that asks")

    # Under the name by which others start it, with their options; it ends when they do, in the middle of a question.
    app = Prompt(program, scratch, arguments=("--display", ":0"), argv="/usr/bin/pinentry")
    app.asks("SETDESC Still there?", "CONFIRM")
    app.find("Still there?")
    app.process.stdin.close()
    check(app.process.wait(timeout=60) == 0, "it ends when nobody hears the answer")
    app.log.close()

    for hostile in (b"X" * 2000, b"\n" * 100 + b"SETDESC " + b"Y" * 1000):
        app = Prompt(program, scratch)
        app.process.stdin.write(hostile)
        app.process.stdin.flush()
        check(app.process.wait(timeout=60) == 0, "what is no protocol ends it")
        app.log.close()


def of_the_agent(program, scratch, passcode, check, go):
    made = Device(os.environ["HOLDFAST_COMMAND"], scratch / "asking", passcode, unlocks=False)
    made.environment |= {"HOLDFAST_PINENTRY": str(program)}
    made.run("unlock", "--passcode-fd=0", given=passcode)
    try:
        made.run("add", "mail", "--secret-fd=0", given="the value")
        made.run("tag", "add", "mail", "ask-each-time")
        for button, value in (("Allow", "the value"), ("Refuse", None)):
            heard = []
            asking = threading.Thread(target=lambda: heard.append(tried(made, "show", "mail", "--field", "password")))
            asking.start()
            app = Begun(program, scratch)
            app.find(part="wants to use 'mail'")
            app.find(part="seconds left")
            app.press(button)
            asking.join()
            check(heard == [value], f"{button} is heard: {heard}")
        programs(program, scratch, made, passcode, check, go)
    finally:
        made.end()


def programs(program, scratch, made, passcode, check, go):
    """What programs may use, as the app shows it on the same vault."""
    made.run("add", "api", "--secret-fd=0", given="a value")
    made.run("tag", "add", "api", "ask-until-lock")

    def allow():
        # A session of its own, which a lease is for.
        asking = subprocess.Popen(
            [made.program, "leases", "add", "api"], env=made.environment, stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        Begun(program, scratch).press("Allow")
        check(asking.wait(timeout=60) == 0, "a lease is given")
        return json.loads(made.run("leases", "list", "--json"))["leases"]

    given = allow()
    check(len(given) == 1, f"there is one lease: {given}")
    app = App(program, made.folder / "home", environment={"XDG_RUNTIME_DIR": str(made.folder)})
    app.type("Passcode", passcode)
    app.press("Unlock")
    app.gone("Holdfast is locked")
    go(app, "Settings")
    app.find("api · until the vault locks")
    app.shot("programs")
    app.press(f"Have {given[0]['program']} ask again")
    app.gone(part="until the vault locks")
    check(made.run("leases", "list", "--json") == '{"leases":[]}', "the lease has ended")
    allow(), allow()
    go(app, "Log")
    go(app, "Settings")
    app.press("End All")
    app.gone("End All")
    check(made.run("leases", "list", "--json") == '{"leases":[]}', "all leases have ended")
    allow()
    go(app, "Log")
    go(app, "Settings")
    app.find(part="until the vault locks")
    app.press("Lock now")
    app.find("Holdfast is locked")
    check("until the vault locks" not in app.said(), "no lease is there while locked")
    app.end()


def tried(made, *words):
    try:
        return made.run(*words)
    except AssertionError:
        return None
