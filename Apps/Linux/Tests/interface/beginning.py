"""How the app begins: at once, without a key store, from a backup; and how it goes to another vault."""

import os
import pathlib

from driver import App, Chip, Device, Missing, until

RESTORE, OTHER, DEFAULT = "Restore a Backup…", "Open Another Vault…", "Open the Default Vault"


running = {}


def start(program, home, environment=None):
    app = running["app"] = App(program, home, environment)
    app.focus()
    return app


def end(app):
    app.end()
    del running["app"]


def again(app, act):
    """The program begins anew in its process: it is on the accessibility bus under another name."""
    before = app.place
    act()

    def place():
        try:
            now = app._place()
        except Missing:
            raise
        except Exception:  # it leaves the bus while it is asked for
            return None
        return now if now and now[0] != before[0] else None

    app.place = until(place, "the app began anew")
    app.focus()


def menu(app, name):
    """Chooses in the main menu."""
    app.click(app.find("Main menu"))
    app.press(name, "menu item")


def opened(app):
    app.find("Lock now", "push button")


def unlocked(app, passcode):
    app.find("Holdfast is locked")
    app.focus()
    app.type("Passcode", passcode)
    app.press("Unlock")
    opened(app)


def at_once(program, scratch, check):
    """With a security chip there is a vault at once."""
    if not pathlib.Path("/usr/bin/swtpm").exists():
        print("\n==== A VAULT AT ONCE IS NOT TESTED: swtpm is not installed ====\n", flush=True)
        return
    folder = scratch / "at-once"
    folder.mkdir(mode=0o700)
    chip = Chip(folder / "chip")
    try:
        for _ in range(2):
            app = start(program, folder / "home", chip.environment)
            opened(app)
            check(not app.all("Holdfast is locked"), "nothing is asked")
            check((folder / "home" / "header").exists(), "the vault is there")
            app.shot("90-at-once")
            end(app)
    finally:
        chip.end()


def unprotected(program, scratch, check):
    """Without a key store nothing is made before its user has said in which way."""
    folder = scratch / "unprotected"
    folder.mkdir(mode=0o700)
    app = start(program, folder / "home")
    app.find("Choose How Your Vault Is Protected")
    check(not (folder / "home" / "header").exists(), "nothing is made")
    app.resize(380, 640)
    app.shot("91-narrow")
    app.resize(780, 680)
    app.press("Try Again")
    app.find("Nothing has changed.")
    app.press("Go On Without Protection…")
    app.find("Go On Without Protection?")
    app.find(part="Anyone who can read the files")
    app.shot("91-without-protection")
    app.press("Back")
    app.find("Choose How Your Vault Is Protected")
    check(not (folder / "home" / "header").exists(), "still nothing")
    app.press("Go On Without Protection…")
    app.press("Go On Without Protection")
    opened(app)
    end(app)
    app = start(program, folder / "home")
    opened(app)
    end(app)


def made(scratch, passcode):
    """A vault with one login, and a backup of it."""
    device = Device(os.environ["HOLDFAST_COMMAND"], scratch / "kept", passcode)
    device.run("add", "kept", "-u", "ada", "--secret-fd=0", given="purple hammer")
    device.run("backup", str(scratch / "stick" / "backup"))
    device.end()


def restoring(program, scratch, passcode, choose, check):
    """A backup becomes a vault: where none is, and beside the one that is open, which stays as it is."""
    (scratch / "stick").mkdir(mode=0o700)
    made(scratch, passcode)
    folder = scratch / "fresh"
    folder.mkdir(mode=0o700)
    app = start(program, folder / "home")
    app.press(RESTORE)
    app.find("Restore a Backup", "label")
    app.find(str(folder / "home"))
    app.shot("92-restore")
    app.press("Choose the backup")
    choose(app, scratch / "kept")
    app.press("Restore")
    app.find("There is no backup in this folder.")
    app.press("Choose Again")
    app.press("Choose the backup")
    choose(app, scratch / "stick" / "backup")
    app.press("Restore")
    app.find("Restored", "label")
    app.shot("93-restored")
    app.press("Open It")
    unlocked(app, passcode)
    app.find("kept", "list item")
    beside(app, scratch, folder, passcode, choose, check)
    end(app)


def beside(app, scratch, folder, passcode, choose, check):
    header = (folder / "home" / "header").read_bytes()
    menu(app, RESTORE)
    app.find("Restore a Backup", "label")
    app.find(f"{folder}/home-2")
    app.press("Choose the backup")
    choose(app, scratch / "stick" / "backup")
    app.press("Change the new folder")
    choose(app, folder / "second")
    app.find(f"{folder}/second")
    app.press("Restore")
    app.find("Restored", "label")
    app.shot("94-restored-beside")
    check((folder / "home" / "header").read_bytes() == header, "the vault that is open stays as it is")
    again(app, lambda: app.press("Open It"))
    app.find("Holdfast is locked")
    check("kept" not in app.said() and "purple hammer" not in app.said(), "nothing of the vault before is left")
    unlocked(app, passcode)
    app.find("kept", "list item")
    app.click(app.find("Main menu"))
    app.find(DEFAULT, "menu item")
    again(app, lambda: app.press(DEFAULT, "menu item"))
    unlocked(app, passcode)
    menu(app, OTHER)
    choose(app, folder)
    app.find("There is no vault in this folder")
    menu(app, OTHER)
    again(app, lambda: choose(app, folder / "second", stays=False))
    unlocked(app, passcode)
    app.find("kept", "list item")
    menu(app, OTHER)
    choose(app, scratch / "stick" / "backup")
    app.find("Restore a Backup", "label")
    app.find(f"{scratch}/stick/backup")
    app.press("Cancel")
    app.gone("Restore a Backup", "label")


def play(program, scratch, passcode, choose, check, state):
    # Whoever looks at what went wrong finds the app that runs in it.
    global running
    running = state
    at_once(program, scratch, check)
    unprotected(program, scratch, check)
    restoring(program, scratch, passcode, choose, check)
