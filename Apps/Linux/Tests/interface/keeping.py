"""Back Up and Export: from the menu to the file, and what is left when they are stopped or the vault is locked."""

import json
import os
import stat

from driver import App, Device, Missing

NAME = "Holdfast Backup"
FILE_PASSWORD = "another long horse"


def menu(app, entry):
    """Chooses an entry of the main menu. A sheet that still slides away takes the click."""
    for _ in range(5):
        app.click(app.find("Main menu"))
        try:
            app.find(entry, "menu item", patience=3)
            return app.press(entry, "menu item")
        except Missing:
            app.keys("Escape")
    raise Missing(entry)


def opened(program, made, passcode, environment=None):
    """The app on the vault that the command made, unlocked."""
    app = App(program, made.folder / "home", environment)
    app.focus()
    app.typed(passcode)
    app.keys("Return")
    app.find("router", "list item")
    return app


def play(program, scratch, passcode, choose, pick, check):
    made = Device(os.environ["HOLDFAST_COMMAND"], scratch / "keeping", passcode)
    made.run("add", "router", "-u", "ada", "--secret-fd=0", given="grey hammer")
    made.run("add", "mail", "-u", "ada", "--secret-fd=0", given="red hammer")
    made.end()
    app = opened(program, made, passcode)
    backups(app, scratch, choose, check)
    exports(app, scratch, passcode, choose, pick, check)
    locked(app, scratch, passcode, check)
    looks(app, "light")
    app.end()
    app = opened(program, made, passcode, {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark"})
    looks(app, "dark")
    app.end()
    restored(made, scratch, passcode, check)


def backups(app, scratch, choose, check):
    disk = scratch / "disk"
    disk.mkdir()
    menu(app, "Back Up…")
    app.find("Back Up the Vault")
    app.find("No backup yet")
    app.press("Cancel")
    app.gone("Back Up the Vault")
    menu(app, "Back Up…")
    app.press("Choose a Folder…")
    choose(app, disk)
    app.find("Backed Up")
    app.find(part=str(disk / NAME))
    app.shot("70-backed-up")
    check((disk / NAME / "backup.manifest").exists(), "the backup lies in the folder that was chosen")
    check(stat.S_IMODE((disk / NAME).stat().st_mode) == 0o700, "and only its owner reads it")
    app.press("Close")
    app.gone("Backed Up")
    menu(app, "Back Up…")
    app.find("Last backup less than a day ago")
    app.press("Choose a Folder…")
    choose(app, disk)
    app.find("Backed Up")
    check(sorted(os.listdir(disk)) == [NAME], "the earlier backup was brought up to date")
    app.press("Close")
    other = scratch / "another-disk"
    (other / NAME).mkdir(parents=True)
    (other / NAME / "letter").write_text("mine")
    menu(app, "Back Up…")
    app.press("Choose a Folder…")
    choose(app, other)
    app.find("No Backup Was Made")
    app.find(part="has something else in it")
    app.shot("71-no-backup")
    check(os.listdir(other / NAME) == ["letter"], "another folder is left alone")
    app.press("Close")
    app.gone("No Backup Was Made")


def exports(app, scratch, passcode, choose, pick, check):
    database = scratch / "out.kdbx"
    menu(app, "Export…")
    app.find("Export All Items")
    app.find(part="Anyone who gets this file and its password")
    app.press("Continue")
    app.find("The new file needs a password.")
    app.type("Password of the new file", FILE_PASSWORD)
    app.type("Repeat password", "another long house")
    app.press("Continue")
    app.find("The two passwords differ.")
    app.type("Repeat password", FILE_PASSWORD)
    app.type("Passcode of the vault", "not this one")
    app.press("Continue")
    app.find(part="That passcode is wrong.")
    app.type("Passcode of the vault", passcode)
    app.shot("72-export")
    app.press("Continue")
    choose(app, database)
    app.find("Exported")
    app.find(part="2 items are in this file:")
    app.shot("73-exported")
    check(stat.S_IMODE(database.stat().st_mode) == 0o600, "only its owner reads the file")
    check(database.read_bytes()[:4] == bytes([0x03, 0xD9, 0xA2, 0x9A]), "it is a database of KeePass")
    app.press("Close")
    app.gone("Exported")
    plain = scratch / "out.json"
    menu(app, "Export…")
    app.focus()
    pick(app, "Format", "Plain text (JSON)", 1)
    app.find("Anyone who gets this file can read everything in it.")
    app.gone("Repeat password")
    app.type("Passcode of the vault", passcode)
    app.shot("74-export-plain")
    app.press("Continue")
    choose(app, plain)
    app.find("Exported")
    app.find(part="It is not encrypted")
    check(stat.S_IMODE(plain.stat().st_mode) == 0o600, "only its owner reads that file too")
    items = json.loads(plain.read_text())["items"]
    check(sorted(item["name"] for item in items) == ["mail", "router"], f"all entries are in it: {items}")
    app.press("Close")
    app.gone("Exported")


def locked(app, scratch, passcode, check):
    """The lock takes the sheet away, with what was typed, and nothing is written afterwards."""
    menu(app, "Export…")
    app.type("Password of the new file", FILE_PASSWORD)
    app.type("Repeat password", FILE_PASSWORD)
    app.keys("ctrl+l")
    app.find("Holdfast is locked")
    check("Export All Items" not in app.said(), "the sheet is gone while locked")
    app.focus()
    app.typed(passcode)
    app.keys("Return")
    app.find("router", "list item")
    check(not app.all("Export All Items"), "and afterwards")
    check(not [name for name in os.listdir(scratch) if name.endswith(".part")], "no part of a file is left")


def looks(app, style):
    """Both sheets, narrow and wide."""
    for width in [780, 380]:
        app.resize(width, 680)
        menu(app, "Back Up…")
        app.find("Back Up the Vault")
        app.shot(f"75-backup-{style}-{width}")
        app.press("Cancel")
        app.gone("Back Up the Vault")
        menu(app, "Export…")
        app.find("Export All Items")
        app.shot(f"76-export-{style}-{width}")
        app.press("Cancel")
        app.gone("Export All Items")


def restored(made, scratch, passcode, check):
    """The command restores what the app backed up."""
    copy = scratch / "restored"
    made.run("restore", str(scratch / "disk" / NAME), "--home", str(copy))
    listed = made.run("list", "--home", str(copy), "--passcode-fd=0", given=passcode)
    check("router" in listed and "mail" in listed, f"the backup is restored: {listed}")
