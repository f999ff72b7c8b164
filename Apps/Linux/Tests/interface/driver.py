"""Drives the desktop app as a person with a screen reader would: through AT-SPI, the keyboard and the clipboard.

Nothing here sleeps for a fixed time: `find` and `until` look again until a deadline.
"""

import os
import pathlib
import signal
import subprocess
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[4]
SHOTS = ROOT / "build" / "screenshots"
PATIENCE = 20.0
Atspi.init()


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


def walk(node):
    """Every accessible below `node`, itself first."""
    if node is None:
        return
    yield node
    try:
        count = node.get_child_count()
    except GLib.Error:
        return
    for index in range(count):
        try:
            child = node.get_child_at_index(index)
        except GLib.Error:
            continue
        yield from walk(child)


def texts(node):
    """Everything that a screen reader could say of `node`."""
    for get in (node.get_name, node.get_description):
        try:
            yield get() or ""
        except GLib.Error:
            continue
    try:
        text = node.get_text_iface()
        if text:
            yield Atspi.Text.get_text(text, 0, Atspi.Text.get_character_count(text))
    except GLib.Error:
        return


class App:
    """One run of the app on a home folder."""

    def __init__(self, binary, home, environment=None, arguments=()):
        self.trace = pathlib.Path(str(home) + ".trace")
        self.trace.unlink(missing_ok=True)
        self.environment = os.environ | {"HOLDFAST_HOME": str(home), "HOLDFAST_DESKTOP_TRACE": str(self.trace)}
        self.environment |= environment or {}
        self.log = open(str(home) + ".log", "ab")
        self.started = time.time_ns()
        self.process = subprocess.Popen(
            [binary, *arguments], env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log
        )
        self.root = until(self._root, "the app is on the accessibility bus")

    def _root(self):
        if self.process.poll() is not None:
            raise Missing(f"the app ended with {self.process.returncode}")
        desktop = Atspi.get_desktop(0)
        for index in range(desktop.get_child_count()):
            child = desktop.get_child_at_index(index)
            try:
                if child and child.get_process_id() == self.process.pid:
                    return child
            except GLib.Error:
                continue
        return None

    def end(self):
        """Ends the app as its owner does, and waits for it."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=10)
        self.log.close()

    # What is on the screen.

    def all(self, name=None, role=None, part=None):
        return list(self.each(name, role, part))

    def each(self, name=None, role=None, part=None):
        """As `all`, one after the other: whoever wants the first does not wait for the rest."""
        for node in walk(self.root):
            try:
                said = node.get_name() or ""
                if name is not None and said != name or part is not None and part not in said:
                    continue
                if role is not None and node.get_role_name() != role:
                    continue
                is_visible = node.get_state_set().contains(Atspi.StateType.VISIBLE)
            except GLib.Error:
                continue
            if is_visible:
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
        return "\n".join(text for node in walk(self.root) for text in texts(node))

    # What a person does.

    def press(self, name, role="push button"):
        def go():
            for node in self.each(name, role):
                if not node.get_state_set().contains(Atspi.StateType.SENSITIVE):
                    continue
                action = node.get_action_iface()
                if action and action.get_n_actions() > 0:
                    try:
                        return action.do_action(0)
                    except GLib.Error:
                        continue
            return False

        until(go, f"{role} {name!r} can be pressed")

    def switch(self, name):
        self.press(name, "check box")

    def is_on(self, name):
        return self.find(name, "check box").get_state_set().contains(Atspi.StateType.CHECKED)

    def type(self, name, text, role=None):
        """Puts text into the entry of this name; entry rows hold theirs one level down."""

        def go():
            for node in self.each(name, role):
                for inner in walk(node):
                    try:
                        editable = inner.get_editable_text_iface()
                        if editable and inner.get_state_set().contains(Atspi.StateType.SENSITIVE):
                            return Atspi.EditableText.set_text_contents(editable, text)
                    except GLib.Error:
                        continue
            return False

        until(go, f"an entry {name!r} to type into")

    def page(self, name):
        def go():
            for node in self.each(name):
                if node.get_role_name() in ("page tab", "radio button", "toggle button"):
                    return node.get_action_iface().do_action(0)
            return False

        until(go, f"page {name!r}")

    def window(self):
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)], capture_output=True, text=True
        ).stdout.split()
        return found[0] if found else None

    def focus(self):
        """Gives the window the keyboard."""
        window = until(self.window, "a window")
        subprocess.run(["xdotool", "windowfocus", "--sync", window], check=True)
        until(
            lambda: self.find(role="frame").get_state_set().contains(Atspi.StateType.ACTIVE), "the window is active"
        )

    def unfocus(self):
        # Without a window manager the keyboard follows the pointer: both leave.
        subprocess.run(["xdotool", "mousemove", "1099", "899", "windowfocus", "1"], check=True)

    def keys(self, *keys):
        subprocess.run(["xdotool", "key", "--clearmodifiers", *keys], check=True)

    def typed(self, text):
        subprocess.run(["xdotool", "type", "--delay", "2", text], check=True)

    def resize(self, width, height):
        subprocess.run(["xdotool", "windowsize", "--sync", self.window(), str(width), str(height)], check=True)

    def click(self, node):
        """Clicks the middle of a row, which has no action of its own."""
        box = node.get_component_iface().get_extents(Atspi.CoordType.WINDOW)
        place = ["--window", self.window(), str(box.x + box.width // 2), str(box.y + box.height // 2)]
        subprocess.run(["xdotool", "mousemove", *place, "click", "1"], check=True)

    def shot(self, name):
        """A picture of the window, once it looks the same twice."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        path = SHOTS / f"{name}.png"
        last = None
        for _ in range(60):
            subprocess.run(["import", "-silent", "-window", self.window(), str(path)], check=True)
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
