"""Drives the desktop app as a person with a screen reader would: through AT-SPI, the keyboard and the clipboard.

Nothing here sleeps for a fixed time: `find` and `until` look again until a deadline.
"""

import functools
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time

import dbus
import dbus.bus
import dbus.lowlevel
import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[4]
SHOTS = ROOT / "build" / "screenshots"
PATIENCE = float(os.environ.get("HOLDFAST_PATIENCE", 60))


class Missing(AssertionError):
    """Something that should be on the screen is not, or the other way round."""


def until(condition, what, patience=PATIENCE):
    """Returns what `condition` gives once that is true."""
    end = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise Missing(what)
        time.sleep(0.02)


def title(window):
    """What a window is called."""
    return subprocess.run(["xdotool", "getwindowname", window], capture_output=True, text=True).stdout.strip()


class Bus:
    """The accessibility bus. Many questions are put at once: what they cost is waiting for each other."""

    def __init__(self):
        session = dbus.SessionBus()
        reply = session.call_blocking("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", "", ())
        self.connection = dbus.bus.BusConnection(str(reply))

    def call(self, place, interface, method, signature="", *arguments):
        """Asks, and waits for the answer; None where there is none."""
        return self.calls([(place, interface, method, signature, arguments)])[0]

    def calls(self, questions):
        """The answers to questions, in their order; None for what is gone, or cannot answer."""
        answers = [None] * len(questions)

        def take(index, reply):
            if isinstance(reply, dbus.lowlevel.MethodReturnMessage):
                values = reply.get_args_list()
                answers[index] = values[0] if values else True

        waiting = []
        for index, ((name, path), interface, method, signature, arguments) in enumerate(questions):
            message = dbus.lowlevel.MethodCallMessage(name, path, interface, method)
            if signature:
                message.append(*arguments, signature=signature)
            waiting.append(
                self.connection.send_message_with_reply(message, functools.partial(take, index), PATIENCE)
            )
        for pending in waiting:
            pending.block()
        return answers


class Node:
    """Something on the screen, as it was when it was looked at."""

    def __init__(self, bus, place, item=None):
        self.bus, self.place, self.children = bus, place, []
        _, _, _, _, _, self.interfaces, self.name, role, self.description, states = item or ((),) * 5 + (
            [], "", 0, "", [0, 0]
        )
        role = Atspi.role_get_name(Atspi.Role(role)) if item else ""
        # at-spi 2.54 has given it the other name.
        self.role = "push button" if role == "button" else role
        self.states = states[0] | states[1] << 32

    def has(self, state):
        return bool(self.states >> int(state) & 1)

    def act(self):
        """Does what a click does; false where it cannot."""
        if "org.a11y.atspi.Action" not in self.interfaces:
            return False
        return bool(self.bus.call(self.place, "org.a11y.atspi.Action", "DoAction", "i", 0))

    def put(self, text):
        """Replaces the text; false where there is none to be edited."""
        if "org.a11y.atspi.EditableText" not in self.interfaces:
            return False
        return bool(self.bus.call(self.place, "org.a11y.atspi.EditableText", "SetTextContents", "s", text))

    def extents(self):
        """Left, top, width and height in the window."""
        answer = self.bus.call(self.place, "org.a11y.atspi.Component", "GetExtents", "u", 1)
        if answer is None:
            raise Missing(f"{self.role} {self.name!r} has no place")
        return [int(number) for number in answer]

    def is_laid_out(self):
        """Whether it has a size: what is on a page that was never in front takes a click for done, and does nothing."""
        answer = self.bus.call(self.place, "org.a11y.atspi.Component", "GetExtents", "u", 1)
        return answer is not None and int(answer[2]) > 0

    def walk(self):
        """It and everything below it."""
        yield self
        for child in self.children:
            yield from child.walk()


class App:
    """One run of the app on a home folder."""

    def __init__(self, binary, home, environment=None, arguments=(), prefix=()):
        self.trace = pathlib.Path(str(home) + ".trace")
        self.trace.unlink(missing_ok=True)
        self.environment = os.environ | {"HOLDFAST_HOME": str(home), "HOLDFAST_DESKTOP_TRACE": str(self.trace)}
        self.environment |= environment or {}
        self.log = open(str(home) + ".log", "ab")
        self.started = time.time_ns()
        self.process = subprocess.Popen(
            [*prefix, binary, *arguments], env=self.environment, cwd=pathlib.Path(home).parent, stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log,
        )
        self.bus = Bus()
        self.place = until(self._place, "the app is on the accessibility bus", patience=3 * PATIENCE)

    def _place(self):
        if self.process.poll() is not None:
            said = pathlib.Path(self.log.name).read_text(errors="replace")
            raise Missing(f"the app ended with {self.process.returncode}: {said}")
        registry = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
        daemon = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
        for place in self.bus.call(registry, "org.a11y.atspi.Accessible", "GetChildren") or []:
            number = self.bus.call(daemon, daemon[0], "GetConnectionUnixProcessID", "s", place[0])
            if number == self.process.pid:
                return place
        return None

    def look(self):
        """Everything that can be reached now, level by level, and then what each of it is, in one answer."""
        root = Node(self.bus, self.place)
        nodes, level = [], [root]
        while level:
            nodes += level
            below = self.bus.calls(
                [(node.place, "org.a11y.atspi.Accessible", "GetChildren", "", ()) for node in level]
            )
            for node, places in zip(level, below):
                node.children = [Node(self.bus, place) for place in places or []]
            level = [child for node in level for child in node.children]
        answer = self.bus.call((self.place[0], "/org/a11y/atspi/cache"), "org.a11y.atspi.Cache", "GetItems")
        items = {item[0]: item for item in answer or []}
        for node in nodes:
            if item := items.get(node.place):
                children = node.children
                node.__init__(self.bus, node.place, item)
                node.children = children
        return root

    def end(self):
        """Ends the app as its owner does, and waits for it."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE)
        self.log.close()

    # What is on the screen.

    def all(self, name=None, role=None, part=None):
        return list(self.each(name, role, part))

    def each(self, name=None, role=None, part=None):
        for node in self.look().walk():
            if name is not None and node.name != name or part is not None and part not in node.name:
                continue
            if role is not None and node.role != role:
                continue
            if node.has(Atspi.StateType.VISIBLE):
                yield node

    def find(self, name=None, role=None, part=None, patience=PATIENCE):
        """The first visible one with this name (or a name with this part) and role."""
        return until(
            lambda: next(self.each(name, role, part), None), f"{role or 'anything'} {name or part!r}", patience
        )

    def gone(self, name=None, role=None, part=None):
        until(lambda: next(self.each(name, role, part), None) is None, f"{role or 'anything'} {name or part!r} is still there")

    def said(self):
        """Everything that a screen reader could say now, hidden or not."""
        nodes = list(self.look().walk())
        texts = [node.name for node in nodes] + [node.description for node in nodes]
        # A text may be longer than a name. The toolkit answers nothing of an entry where -1 says to its end.
        answers = self.bus.calls([
            (node.place, "org.a11y.atspi.Text", "GetText", "ii", (0, 1_000_000))
            for node in nodes if "org.a11y.atspi.Text" in node.interfaces
        ])
        return "\n".join(texts + [answer for answer in answers if answer])

    # What a person does.

    def press(self, name, role="push button"):
        def go():
            return any(
                node.has(Atspi.StateType.SENSITIVE) and node.is_laid_out() and node.act() for node in self.each(name, role)
            )

        until(go, f"{role} {name!r} can be pressed")

    def switch(self, name):
        self.press(name, "check box")

    def is_on(self, name):
        return self.find(name, "check box").has(Atspi.StateType.CHECKED)

    def type(self, name, text, role=None):
        """Puts text into the entry of this name; entry rows hold theirs one level down."""

        def go():
            return any(
                inner.has(Atspi.StateType.SENSITIVE) and inner.put(text)
                for node in self.each(name, role) for inner in node.walk()
            )

        until(go, f"an entry {name!r} to type into")

    def page(self, name):
        def go():
            return any(
                node.role in ("page tab", "radio button", "toggle button") and node.act() for node in self.each(name)
            )

        until(go, f"page {name!r}")

    def window(self):
        def own():
            # A menu that closes in the middle of this search ends it with an X error, and it says nothing.
            found = subprocess.run(
                ["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)], capture_output=True, text=True
            ).stdout.split()
            # What is above the page, as a tooltip or a menu, is a window too, without a title.
            named = [window for window in found if len(found) == 1 or title(window) == "Holdfast"]
            return (named or found or [None])[0]

        return until(own, "a window")

    def focus(self):
        """Gives the window the keyboard."""
        subprocess.run(["xdotool", "windowfocus", "--sync", self.window()], check=True)
        until(
            lambda: self.find(role="frame").has(Atspi.StateType.ACTIVE), "the window is active"
        )

    def unfocus(self):
        # Without a window manager the keyboard follows the pointer: both leave.
        subprocess.run(["xdotool", "mousemove", "1399", "949", "windowfocus", "1"], check=True)

    def keys(self, *keys):
        subprocess.run(["xdotool", "key", "--clearmodifiers", *keys], check=True)

    def typed(self, text):
        subprocess.run(["xdotool", "type", "--delay", "2", text], check=True)

    def resize(self, width, height):
        subprocess.run(["xdotool", "windowsize", "--sync", self.window(), str(width), str(height)], check=True)

    def click(self, node, *keys):
        """Clicks the middle of a row, which has no action of its own; and presses keys right after it."""
        left, top, width, height = node.extents()
        place = ["--window", self.window(), str(left + width // 2), str(top + height // 2)]
        after = ["key", "--delay", "0", *keys] if keys else []
        subprocess.run(["xdotool", "mousemove", *place, "click", "1", *after], check=True)

    def bring_into_view(self, find):
        """Turns the wheel over the middle of the window until what `find` gives is between the header and the edge."""
        def is_there():
            _, top, _, height = find().extents()
            if top <= 60:
                self.turn_wheel("4")
            elif top + height >= self.find(role="frame").extents()[3]:
                self.turn_wheel("5")
            else:
                return True

        until(is_there, "it is in view")

    def turn_wheel(self, button):
        place = ["--window", self.window(), "390", "340"]
        subprocess.run(["xdotool", "mousemove", *place, "click", "--repeat", "3", "--delay", "5", button], check=True)

    def pixels(self):
        """How light the pixel at a place in the window is, 0 to 255."""
        picture = pathlib.Path(self.log.name + ".png")
        subprocess.run(["import", "-silent", "-window", self.window(), str(picture)], check=True)
        size = subprocess.run(["identify", "-format", "%w", str(picture)], capture_output=True, text=True, check=True)
        gray = subprocess.run(["convert", str(picture), "-colorspace", "gray", "-depth", "8", "gray:-"], capture_output=True)
        picture.unlink()
        width = int(size.stdout)

        def light(x, y):
            place = y * width + x
            return gray.stdout[place] if 0 <= x < width and 0 <= place < len(gray.stdout) else 255

        return light

    def shot(self, name, of=None):
        """A picture of the window, or of the whole screen ("root"), once it looks the same twice."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        path = SHOTS / f"{name}.png"
        last = None
        for _ in range(60):
            subprocess.run(["import", "-silent", "-window", of or self.window(), str(path)], check=True)
            now = path.read_bytes()
            plain = subprocess.run(["convert", str(path), "rgb:-"], capture_output=True).stdout
            if plain == last:
                return now
            last = plain
        return None


def clipboard():
    return subprocess.run(
        ["timeout", "3", "xclip", "-o", "-selection", "clipboard"], capture_output=True, text=True
    ).stdout


def clipboard_targets():
    return subprocess.run(
        ["timeout", "3", "xclip", "-o", "-selection", "clipboard", "-t", "TARGETS"], capture_output=True, text=True
    ).stdout.split()


def screen_saver(active):
    """What the desktop says when its screen is locked."""
    bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
    bus.emit_signal(
        None, "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver", "ActiveChanged", GLib.Variant("(b)", (active,))
    )
    bus.flush_sync(None)


class DragSource:
    """Another program's window, beside the app's, with files that can be dragged out of it."""

    def __init__(self, *paths):
        program = pathlib.Path(__file__).parent / "drag_source.py"
        self.process = subprocess.Popen(
            ["/usr/bin/python3", program, *map(str, paths)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.window = until(self._window, "a window to drag from")
        subprocess.run(["xdotool", "windowmove", "--sync", self.window, "850", "600"], check=True)

    def _window(self):
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)], capture_output=True, text=True
        ).stdout.split()
        return found[0] if found else None

    def drop(self, app, happened, what):
        """Drags to the middle of the app's window, and again until it has happened: a target that is not ready takes nothing."""

        def go():
            pointer = ["xdotool", "mousemove", "--sync", "--window"]
            subprocess.run([*pointer, self.window, "60", "100", "mousedown", "1"], check=True)
            try:
                for step in range(8):
                    subprocess.run([*pointer, self.window, str(65 + 5 * step), str(105 + 5 * step)], check=True)
                for step in range(8):
                    subprocess.run([*pointer, app.window(), str(420 + step), str(400 + step)], check=True)
            finally:
                subprocess.run(["xdotool", "mouseup", "1"], check=True)
            end = time.monotonic() + 5
            while time.monotonic() < end:
                if happened():
                    return True
                time.sleep(0.02)
            return False

        until(go, what)

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)


class Logind:
    """The machine's session manager, as far as the app listens to it, on the test's own system bus."""

    INTERFACE = """<node><interface name='org.freedesktop.login1.Manager'>
      <method name='Inhibit'><arg type='s' direction='in'/><arg type='s' direction='in'/><arg type='s' direction='in'/>
      <arg type='s' direction='in'/><arg type='h' direction='out'/></method></interface></node>"""

    def __init__(self):
        self.bus = Gio.DBusConnection.new_for_address_sync(
            os.environ["DBUS_SYSTEM_BUS_ADDRESS"],
            Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION,
            None,
            None,
        )
        self.bus.call_sync(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
            GLib.Variant("(su)", ("org.freedesktop.login1", 0)), None, 0, -1, None,
        )

    def emit(self, path, interface, member, variant=None):
        self.bus.emit_signal(None, path, interface, member, variant)
        self.bus.flush_sync(None)

    def sleep(self, begins):
        self.emit(
            "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep",
            GLib.Variant("(b)", (begins,)),
        )

    def lock(self):
        self.emit("/org/freedesktop/login1/session/_1", "org.freedesktop.login1.Session", "Lock")

    def active(self, is_active):
        changed = {"Active": GLib.Variant("b", is_active)}
        self.emit(
            "/org/freedesktop/login1/session/_1", "org.freedesktop.DBus.Properties", "PropertiesChanged",
            GLib.Variant("(sa{sv}as)", ("org.freedesktop.login1.Session", changed, [])),
        )


class Server:
    """The identity server, as it is installed, and its example application, on ports that the system chooses."""

    def __init__(self, program, folder):
        self.program, self.folder, self.processes = program, folder, []
        self.log = open(folder / "server.log", "ab")
        database, keys = "accounts.db", "accounts.db.keys"
        subprocess.run([program, "init", "--database", database], cwd=folder, capture_output=True, check=True)
        made = subprocess.run(
            [program, "rotate-keys", "--keys-file", keys, "--publish-seconds", "0"],
            cwd=folder, capture_output=True, check=True, text=True,
        )
        access = next(line.split()[1] for line in made.stdout.splitlines() if line.startswith("access: "))
        self.address, self.key = self.start("serve", "--database", database)
        # It signs with the server's own key, so that whoever trusts that server trusts it.
        self.app, _ = self.start("app", "--access-key", access, "--response-keys-file", keys)

    def start(self, *words):
        process = subprocess.Popen(
            [self.program, *words, "--listen", "127.0.0.1:0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True, cwd=self.folder,
        )
        self.processes.append(process)
        said = process.stdout.readline().split()
        if len(said) != 3 or said[0] != "ready":
            raise Missing(f"the server is not ready: {said}")
        return said[1:]

    def end(self):
        for process in self.processes:
            process.terminate()
            process.wait(timeout=PATIENCE)
        self.log.close()


class Device:
    """Another device of the owner: the command, with a vault of its own that an agent holds open."""

    def __init__(self, program, folder, passcode, unlocks=True):
        self.program, self.folder = program, folder
        folder.mkdir(mode=0o700)
        self.environment = os.environ | {"HOLDFAST_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder)}
        self.phrase = self.run("init", "--passcode-fd=0", "--phrase-out-fd=1", given=passcode).splitlines()[0]
        if unlocks:
            self.run("unlock", "--passcode-fd=0", given=passcode)

    def run(self, *words, given=None):
        done = subprocess.run(
            [self.program, *words], env=self.environment, input=None if given is None else given + "\n",
            stdin=subprocess.DEVNULL if given is None else None, capture_output=True, text=True, timeout=2 * PATIENCE,
        )
        if done.returncode != 0:
            raise Missing(f"{' '.join(words)}: {done.returncode} {done.stderr}")
        return done.stdout.strip()

    def end(self):
        subprocess.run(
            [self.program, "lock", "--shut-down"], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=2 * PATIENCE,
        )


class Chip:
    """A TPM in software, as a program of its own."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "state").mkdir(parents=True)
        self.process = subprocess.Popen(
            [
                "swtpm", "socket", "--tpm2", "--tpmstate", f"dir={folder}/state", "--server",
                f"type=unixio,path={folder}/tpm.sock", "--ctrl", f"type=unixio,path={folder}/tpm.sock.ctrl",
                "--flags", "not-need-init,startup-clear",
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        until(lambda: listens(folder / "tpm.sock") and listens(folder / "tpm.sock.ctrl"), "the software TPM")
        self.environment = {"HOLDFAST_TPM": f"swtpm:path={folder}/tpm.sock"}

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)


def listens(path, said=None):
    """Whether somebody takes connections at a path; says something to him."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(str(path))
            if said is not None:
                connection.sendall(said.encode())
        except OSError:
            return False
    return True


class Sensor:
    """The real fprintd with libfprint's virtual sensor, on the test's system bus; polkit alone is played."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        folder.mkdir()
        self.log = open(folder / "log", "ab")
        self.bus = dbus.bus.BusConnection(os.environ["DBUS_SYSTEM_BUS_ADDRESS"])
        self.start(["/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "polkitd"])
        polkit = "org.freedesktop.PolicyKit1"
        until(lambda: self.bus.name_has_owner(polkit), "polkit")
        authority = self.bus.get_object(polkit, "/org/freedesktop/PolicyKit1/Authority")
        dbus.Interface(authority, "org.freedesktop.DBus.Mock").AllowUnknown(True)
        self.start(
            ["/usr/libexec/fprintd", "-t"], FP_DRIVERS_WHITELIST="virtual_device", FP_VIRTUAL_DEVICE=str(self.socket),
            STATE_DIRECTORY=str(folder / "state"), RUNTIME_DIRECTORY=str(folder / "run"),
        )
        until(lambda: self.bus.name_has_owner("net.reactivated.Fprint"), "fprintd")

    @property
    def socket(self):
        return self.folder / "finger.sock"

    def start(self, words, **environment):
        for name in ("state", "run"):
            (self.folder / name).mkdir(exist_ok=True)
        process = subprocess.Popen(
            words, env=os.environ | environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log
        )
        self.processes.append(process)
        return process

    def touch(self, command):
        """Does something at the sensor, once it is claimed: SCAN finger, RETRY 1 and the like."""
        until(lambda: self.send(command), "the sensor")

    def send(self, command):
        """As `touch`, if it is claimed now."""
        return listens(self.socket, command)

    def enroll(self, finger, place):
        program = self.start(["fprintd-enroll", "-f", place])

        def done():
            if program.poll() is None:
                listens(self.socket, f"SCAN {finger}")
            return program.poll() is not None

        until(done, "the enrollment")
        if program.returncode != 0:
            raise Missing(f"fprintd-enroll: {program.returncode}")

    def end(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
            process.wait(timeout=PATIENCE)
        self.log.close()


class Machine:
    """A name space of mounts in which the test's system bus and its rules for accounts lie where a machine has its own.

    The app takes neither from its environment: who sets a variable could otherwise answer for a sensor."""

    SCRIPT = """
        set -e
        mount -t tmpfs -o mode=755 tmpfs /run
        mkdir /run/dbus
        : >/run/dbus/system_bus_socket
        mount --bind "$1" /run/dbus/system_bus_socket
        mount --bind "$2" /etc/pam.d
        shift 2
        exec "$@"
    """

    def __init__(self, folder, password):
        folder.mkdir()
        shutil.copytree("/etc/pam.d", folder / "pam.d")
        module = next(pathlib.Path("/usr/lib").glob("*/pam_wrapper/pam_matrix.so"), None)
        user = pwd.getpwuid(os.getuid()).pw_name
        (folder / "accounts").write_text(f"{user}:{password}:holdfast\n")
        (folder / "pam.d" / "holdfast").write_text(
            f"auth required {module} passdb={folder}/accounts\naccount required {module} passdb={folder}/accounts\n"
        )
        bus = os.environ["DBUS_SYSTEM_BUS_ADDRESS"].removeprefix("unix:path=")
        self.prefix = ["unshare", "-m", "sh", "-c", self.SCRIPT, "sh", bus, str(folder / "pam.d")]

    @staticmethod
    def missing():
        """What keeps a test of it from being played here; None where nothing does."""
        for path in ["/usr/libexec/fprintd", "/usr/bin/fprintd-enroll", "/usr/bin/swtpm"]:
            if not pathlib.Path(path).exists():
                return f"{path} is not installed"
        if not next(pathlib.Path("/usr/lib").glob("*/pam_wrapper/pam_matrix.so"), None):
            return "libpam-wrapper is not installed"
        if subprocess.run(["/usr/bin/python3", "-c", "import dbusmock"], capture_output=True).returncode:
            return "python3-dbusmock is not installed"
        # fprintd has to run as root, or the app does not believe it.
        if os.getuid() != 0:
            return "this is not root"
        if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/run"], capture_output=True).returncode:
            return "mounts of its own are not permitted"
        return None
