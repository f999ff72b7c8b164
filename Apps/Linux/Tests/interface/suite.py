"""The scenarios of the desktop app, each against real vaults. Run by scripts/desktop-test."""

import base64
import ctypes
import hmac
import json
import os
import pathlib
import re
import statistics
import struct
import subprocess
import sys
import time
import traceback

import asking as prompts
import beginning as beginnings
import keeping as keepings
import listing as lists
from driver import (
    ROOT, App, Atspi, Chip, Device, DragSource, Logind, Machine, Missing, Sensor, Server, clipboard, clipboard_targets, screen_saver,
    title, until,
)  # fmt: skip

PROGRAM = sys.argv[1]
SCRATCH = pathlib.Path(os.environ["HOLDFAST_SCRATCH"])
PASSCODE = "correct horse battery"
# Names, collections and values that nobody may find on a screen that is locked.
ITEMS = [
    ("VPN Zürich", "work", "tunnel-7f3a"),
    ("api token", "work", "sk-live-81c2"),
    ("Wi-Fi <home> & garden", "home", "blue ladder"),
    ("notes", "home", "first line\nsecond line"),
]
SECRETS = [text for item in ITEMS for text in item[0::2]] + ["second line", "blue ladder"]
passed, failed = 0, 0
state = {"passcode": PASSCODE}


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {what}", flush=True)


def held(app, widget, what):
    """A widget that takes nothing during a delay. A busy machine may outlive the delay: then nothing is said of it."""
    is_held = not widget.has(Atspi.StateType.SENSITIVE)
    check(is_held or not app.all(part="Try again in 0:"), what)


def raises(body):
    try:
        body()
    except Missing:
        return True
    return False


def locked(app, why):
    """Nothing of the vault can be reached: not by name, not by description, not as text, hidden or not."""
    app.find("Holdfast is locked")
    app.find(why)
    said = app.said()
    for secret in SECRETS + [PASSCODE]:
        check(secret not in said, f"{secret!r} is nowhere while locked ({why})")
    check(not app.all("Items", "list") and not app.all("Ask for the passcode"), "no page is there while locked")


def unlock(app, passcode=PASSCODE):
    app.type("Passcode", passcode)
    app.press("Unlock")


def opened(app):
    app.gone("Holdfast is locked")
    app.find("Lock now", "push button")


def begin(folder, environment=None):
    """Starts the app on a vault that the command made, and unlocks it."""
    app = state["app"] = App(PROGRAM, SCRATCH / folder / "home", environment)
    app.focus()
    app.find("Holdfast is locked")
    app.typed(PASSCODE)
    app.keys("Return")
    opened(app)
    return app


def set_aside():
    """Ends the app that runs, for a scenario with a vault of its own; `resume` goes on with it."""
    before = state.pop("app", None)
    if before:
        before.end()
    return before


def row(app, name):
    return app.find(name, "list item")


def add_value(app):
    """Opens the form of a plain value."""
    app.press("Add an item")
    app.press("Plain Value")
    app.gone("What Is It?")


def go(app, page):
    """Goes to a page of the app: Vault, Settings, Log, Doctor, Identity; in German too."""
    app.focus()
    keys = {"Vault": "alt+1", "Identity": "alt+2"}.get(page)
    if keys:
        app.find("Lock now", "push button")
        app.keys(keys)
        return

    def arrives():
        # While the vault is locked the keys do nothing.
        app.keys("ctrl+comma")
        return next((node for name in ("Settings", "Einstellungen") for node in app.each(name, "label")), None)

    until(arrives, "the settings")
    if page not in ("Settings", "Einstellungen"):
        app.bring_into_view(lambda: app.find(page, "list item"))
        app.click(app.find(page, "list item"))
        app.find(page, "label")


def back_up(name):
    """The command makes a backup of the vault that the app shows."""
    environment = os.environ | {"HOLDFAST_HOME": str(SCRATCH / "home")}
    subprocess.run(
        [os.environ["HOLDFAST_COMMAND"], "backup", str(SCRATCH / name)], env=environment, stdin=subprocess.DEVNULL,
        check=True, capture_output=True,
    )


def show(app, name):
    """Opens the page of an item."""

    def opens():
        # What appears above the list moves it from below the pointer.
        app.click(row(app, name))
        try:
            return app.find("Back", "push button", patience=3)
        except Missing:
            return None

    until(opens, f"the page of {name!r}")


def first_run():
    app = App(PROGRAM, SCRATCH / "home")
    state["app"] = app
    app.focus()
    # There is no key store here: nothing is made before its user has chosen.
    app.find("Choose How Your Vault Is Protected")
    app.shot("01-first-start")
    app.press("Choose a Passcode…")
    app.find("A Vault That Only You Open")
    app.press("Back")
    app.press("Choose a Passcode…")
    app.find("A Vault That Only You Open")
    app.shot("01-welcome")
    app.press("Create a Vault")
    app.type("Passcode", "password")
    app.find(part="It is one of those that people try first.")
    app.type("Repeat passcode", "passwort")
    app.press("Continue")
    app.find(part="The two passcodes differ.")
    app.type("Passcode", PASSCODE)
    app.find(part="Strong.")
    app.type("Repeat passcode", PASSCODE)
    app.shot("02-passcode")
    app.press("Continue")
    away_before_the_words_are_checked(app)
    words, asked = written_down(app)
    state["words"] = " ".join(words[number] for number in sorted(words))
    for number in asked:
        app.type(f"Word {number}", "zoo")
    app.press("Continue")
    app.find(part="do not match the sheet")
    for number in asked:
        app.type(f"Word {number}", words[number])
    app.press("Continue")
    app.shot("04-protection")
    app.switch("App lock")  # off unless the user wants it
    app.press("Open the Vault")
    without_parts(app)
    check(f"1. {words[1]}" not in app.said(), "the phrase is gone")
    app.find("Import from Another Program", "push button")
    app.shot("05-empty-vault")


def away_before_the_words_are_checked(app):
    """The session is locked while the words are on the screen: they go, and others take their place."""
    app.find("I Wrote Them Down", "push button")
    first = next(app.each(role="label", part="1. ")).name
    state["logind"].lock()
    app.find("Welcome Back")
    check(first not in app.said(), "the words go with the session")
    app.type("Passcode", "not this one")
    app.press("Continue")
    app.find(part="That passcode is wrong.")
    app.shot("03-welcome-back")
    app.type("Passcode", PASSCODE)
    app.press("Continue")
    app.find("I Wrote Them Down", "push button")


def written_down(app):
    """The words of the vault's phrase, and which of them are asked for."""
    app.find("I Wrote Them Down", "push button")
    numbered = [node.name.split(". ") for node in app.all(role="label", part=". ")]
    words = {int(number): word for number, word in (pair for pair in numbered if pair[0].isdigit())}
    check(sorted(words) == list(range(1, 25)), "24 words are shown")
    app.shot("03-recovery-phrase")
    app.press("I Wrote Them Down")
    until(lambda: len([n for n in words if app.all(f"Word {n}")]) == 3, "three words are asked for")
    asked = [n for n in words if app.all(f"Word {n}")]
    said = app.said()
    check(not any(f"{number}. {word}" in said for number, word in words.items()), "the words are off the screen")
    return words, asked


def without_parts(app):
    """Leaves out what the assistant offers where the tests' machine has a chip or a sensor of its own."""

    def done():
        for node in app.each("Not Now", "push button"):
            node.act()
        return app.all("Nothing Here Yet")

    until(done, "the vault is open")


def prepared():
    """A vault that the command made, for scenarios that are not about the first run; its app lock is off."""
    made = Device(os.environ["HOLDFAST_COMMAND"], SCRATCH / "made", PASSCODE, unlocks=False)
    state["words"] = made.phrase
    (SCRATCH / "made" / "home").rename(SCRATCH / "home")
    app = App(PROGRAM, SCRATCH / "home")
    state["app"] = app
    app.focus()
    app.find("Holdfast is locked")
    app.typed(PASSCODE)
    app.keys("Return")
    opened(app)


def vault():
    app = state["app"]
    for name, collection, value in ITEMS:
        add_value(app)
        app.find("New Item")
        app.type("Name", name)
        app.type("Folder", collection)
        if "\n" in value:
            app.switch("Several lines")
            app.type("Text", value)
        else:
            app.type("Value", value)
        if name == ITEMS[0][0]:
            app.shot("06-new-item")
        app.press("Store")
        app.gone("New Item")
        row(app, name)
    add_value(app)
    app.press("Store")
    app.find(part="Enter a name.")
    app.type("Name", "notes")
    app.type("Folder", "home")
    app.press("Store")
    app.find(part="Something with this name already exists.")
    app.focus()
    app.keys("Escape")
    app.find("Press Escape again to throw away what you typed.")
    app.keys("Escape")
    app.gone("New Item")
    app.shot("07-vault")
    app.click(app.find("work, 2 items", "list item"))
    app.gone("notes", "list item")
    row(app, "api token")
    app.click(app.find("All Items, 4 items", "list item"))
    row(app, "notes")
    app.keys("ctrl+f")
    app.typed("wi-fi")
    app.gone("notes", "list item")
    show(app, "Wi-Fi <home> & garden")
    app.find("Show the value", "push button")
    check(not app.all("blue ladder"), "a value is hidden until it is asked for")
    app.press("Show the value")
    app.find("blue ladder")
    app.shot("08-item")
    app.press("Hide the value")
    app.gone("blue ladder")
    app.press("Copy the value")
    app.find(part="Copied for 30 seconds")
    check(clipboard() == "blue ladder", "the value is on the clipboard")
    check("x-kde-passwordManagerHint" in clipboard_targets(), "and marked as a secret")
    app.press("Change…")
    app.find("Change the Value")
    app.type("Value", "green ladder")
    app.press("Store")
    app.gone("Change the Value")
    SECRETS.append("green ladder")
    app.type("Search names, users and tags", "")
    show(app, "api token")
    app.press("Delete")
    app.find("Moved to the trash")
    app.gone("api token", "list item")
    app.click(app.find("Trash", "list item"))
    app.shot("09-trash")
    app.press("Put api token back")
    app.find("It is back")
    app.find("The Trash Is Empty")
    app.click(app.find("All Items, 4 items", "list item"))
    show(app, "api token")
    app.press("Delete")
    app.find("Moved to the trash")
    app.click(app.find("Trash", "list item"))
    app.press("Remove api token for good")
    app.find("Remove api token for good?")
    app.press("Remove")
    app.find("Removed for good")
    app.click(app.find("All Items, 3 items", "list item"))
    app.gone("api token", "list item")


def items():
    """Items with fields, as the command made them."""
    before = set_aside()
    made = Device(os.environ["HOLDFAST_COMMAND"], SCRATCH / "items", PASSCODE)
    paper = SCRATCH / "paper.txt"
    paper.write_text("on paper")
    key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    made.run(
        "add", "mail", "-u", "ada", "--url", "https://mail.example", "--otp", "--notes", "--tag", "work", "--attach",
        str(paper), "--secret-fd=0", given=f"purple hammer\notpauth://totp/mail?secret={key}&period=9\nsecond line of notes",
    )
    counter = f"otpauth://hotp/x?secret={key}&counter=0"
    made.run("add", "count", "--kind=otp", "--secret-fd=0", given=counter)
    made.end()
    app = begin("items")
    show(app, "count")
    # The first two codes of RFC 4226, appendix D.
    for code in ("755224", "287082"):
        app.press("Next code of Code")
        app.find(code)
    app.press("Copy Code")
    until(lambda: clipboard() == "287082", "the code that is shown on the clipboard")
    app.press("Back")
    add_value(app)
    app.type("Name", "other")
    app.type("Value", "blue ladder")
    app.press("Store")
    app.gone("New Item")
    for words in ("ADA", "#work", "mail.exa"):
        app.type("Search names, users and tags", words)
        app.gone("other", "list item")
        row(app, "mail")
    app.type("Search names, users and tags", "hammer")
    app.gone("mail", "list item")
    app.find("Nothing Found")
    app.type("Search names, users and tags", "")
    row(app, "other")
    show(app, "mail")
    app.find("Show Password", "push button")
    app.gone("Show the value", "push button")
    check(app.all("ada") and app.all("https://mail.example") and app.all("paper.txt"), "what is no secret is shown")
    check(not app.all("purple hammer") and not app.all("second line of notes"), "secrets are hidden until they are asked for")
    app.shot("54-item-fields")
    until(lambda: says_code(app, key, 9, 0), "the code is shown without being asked for")
    until(lambda: says_code(app, key, 9, 1), "and the next one, which is near")
    check([node.name for node in app.each(role="list item")][:4] == ["User Name", "Password", "Code", "Website"], "in the order of use")
    check(not app.find("Size").is_laid_out(), "what is seldom wanted is folded away")
    app.press("Show Password")
    app.find("purple hammer")
    app.press("Show Notes")
    app.find(part="second line of notes")
    app.shot("55-item-revealed")
    app.press("Hide Password")
    app.gone("purple hammer")
    app.click(app.find("User Name", "list item"))
    until(lambda: clipboard() == "ada", "what is clicked is copied")
    app.press("Copy Password")
    until(lambda: clipboard() == "purple hammer", "the password is on the clipboard")
    app.find(part="Copied for 30 seconds")
    app.press("Copy Code")
    until(lambda: clipboard().isdigit() and len(clipboard()) == 6, "the code on the clipboard")
    edit_in_place(app, made)
    app.press("Show Password")
    app.find("yellow hammer")
    app.press("Look at File")
    app.find("on paper")
    app.shot("56-attachment")
    app.press("Close")
    app.gone("on paper")
    target = SCRATCH / "attachment.txt"
    app.press("Save File")
    choose(app, target)
    app.find(part="The file on the disk is not protected.")
    check(target.read_text() == "on paper" and not (target.stat().st_mode & 0o077), "the attachment is written, and private")
    app.press("Back")
    by_keyboard(app)
    app.press("Lock now")
    app.gone("yellow hammer")
    app.gone("ada")
    app.end()
    del state["app"]
    made.run("unlock", "--passcode-fd=0", given=PASSCODE)
    check("password" in made.run("history", "list", "mail"), "the earlier password is kept")
    check("counter=2" in made.run("show", "count", "-f", "code"), "two codes are used up")
    made.end()
    resume(before)


def edit_in_place(app, made):
    """The values of an item become entries, which are stored all at once, or not."""
    app.press("Edit")
    app.find("Save", "push button")
    check(not app.all("Look at File") and not app.all("Delete…"), "while it is changed nothing else is done with it")
    app.shot("55-item-editing")
    app.type("Password", "half typed word")
    app.keys("Escape")
    app.find("Discard the Changes?")
    app.press("Cancel")
    app.gone("Discard the Changes?")
    app.press("Back")
    app.find("Discard the Changes?")
    app.press("Cancel")
    app.gone("Discard the Changes?")
    app.keys("Escape")
    app.press("Discard")
    app.find("Show Password", "push button")
    check("half typed" not in app.said(), "what was given up is nowhere")
    app.press("Edit")
    app.type("New Key of Code", "no key!")
    app.type("Password", "yellow hammer")
    app.press("Save")
    app.find(part="A one-time code is an otpauth:// address")
    app.type("New Key of Code", "")
    app.type("User Name", "grace")
    app.press("Save")
    app.find("grace")
    app.find("Edit", "push button")
    app.press("Edit")
    app.type("User Name", "ada")
    made.run("unlock", "--passcode-fd=0", given=PASSCODE)
    made.run("edit", "mail", "-f", "username", "--secret-fd=0", given="eve")
    made.end()
    app.press("Save")
    app.find(part="Another program changed this item meanwhile")
    app.press("Save")
    app.find("ada")
    app.press("Earlier Values of User Name")
    app.press("Show earlier User Name")
    app.find("eve")
    app.keys("Escape")
    app.gone("eve")
    app.press("Edit")
    app.find("Save", "push button")
    app.keys("Escape")
    app.find("Edit", "push button")


def by_keyboard(app):
    """An item is found, opened and used without the pointer."""
    app.find("Search names, users and tags")
    app.focus()
    app.keys("ctrl+f")
    app.typed("mail.exa")
    app.gone("other", "list item")
    app.keys("Return")
    app.find("Show Password", "push button")
    app.keys("ctrl+shift+c")
    until(lambda: clipboard() == "yellow hammer", "the password on the clipboard")
    app.keys("ctrl+u")
    until(lambda: clipboard() == "ada", "the user name on the clipboard")
    app.keys("ctrl+t")
    until(lambda: clipboard().isdigit() and len(clipboard()) == 6, "the code on the clipboard")
    app.keys("Escape")
    # The page is opened, and at once something of it copied: it is when it was read.
    app.click(row(app, "mail"), "ctrl+shift+c")
    until(lambda: clipboard() == "yellow hammer", "the password on the clipboard, of a page that was just opened")
    app.press("Back")
    row(app, "mail")


def editing():
    """Items made and changed in the app: fields, generator, favourites, tags, attachments, history, another name."""
    before = set_aside()
    made = Device(os.environ["HOLDFAST_COMMAND"], SCRATCH / "editing", PASSCODE, unlocks=False)
    app = begin("editing")
    app.press("Add an item")
    app.find("What Is It?")
    app.shot("56-kinds")
    app.press("Login")
    app.find("New Item: Login")
    app.type("Name", "shop")
    app.type("User Name", "ada")
    app.press("Generate Password")
    app.find(part="bits that nobody knows")
    app.shot("57-generator", "root")
    app.press("Use")
    app.gone(part="bits that nobody knows")
    app.type("Website", "https://shop.example")
    app.type("Code", "no key!")
    app.type("Notes", "who knows")
    app.type("Tags, with commas between", "#buy, two words")
    app.switch("Favourite")
    app.shot("57-new-login")
    app.press("Store")
    app.find(part="A one-time code is an otpauth:// address")
    app.type("Code", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    app.press("Store")
    app.gone("New Item: Login")
    row(app, "shop")
    app.press("Add an item")
    app.press("Card")
    app.type("Name", "bank")
    app.type("Folder", "money")
    app.type("Expires", "soon")
    app.press("Store")
    app.find(part="A date looks like")
    app.type("Expires", "2031-12")
    app.type("Number", "4000 1234")
    app.press("Store")
    app.gone("New Item: Card")
    row(app, "bank")
    app.shot("58-sections")
    for section, there, gone in [
        ("Favourites, 1 item", "shop", "bank"), ("Cards, 1 item", "bank", "shop"), ("Logins, 1 item", "shop", "bank"),
        ("money, 1 item", "bank", "shop"), ("#two words, 1 item", "shop", "bank"),
    ]:
        app.click(app.find(section, "list item"))
        app.gone(gone, "list item")
        row(app, there)
    app.click(app.find("All Items, 2 items", "list item"))
    row(app, "bank")
    show(app, "shop")
    app.press("Show Password")
    password = until(
        lambda: next((node.name for node in app.each(role="label") if re.fullmatch("[!-~]{20}", node.name) and "shop" not in node.name), None),
        "a generated password of 20 characters",
    )
    app.press("Edit")
    app.press("Generate Password")
    app.press("Use")
    app.press("Save")
    app.press("Earlier Values of Password")
    check(not app.all(password), "the earlier password is hidden")
    app.press("Show earlier Password")
    app.find(password)
    app.shot("58-history", "root")
    app.press("Copy earlier Password")
    until(lambda: clipboard() == password, "the earlier password is on the clipboard")
    app.press("Put back earlier Password")
    app.find("It is back")
    app.press("Copy Password")
    until(lambda: clipboard() == password, "the password is the earlier one")
    app.press("Add a Field…")
    app.find("Another Field")
    app.press("Store")
    app.find(part="A field has a label")
    app.type("Label", "door")
    app.type("Value", "left one")
    app.press("Store")
    app.gone("Another Field")
    app.press("Show door")
    app.find("left one")
    paper = SCRATCH / "letter.txt"
    paper.write_text("dear")
    app.press("Attach a File…")
    choose(app, paper)
    app.find("letter.txt")
    app.shot("59-edited")
    app.press("Edit")
    app.press("Remove door")
    app.press("Save")
    app.gone("Show door", "push button")
    app.find("Removed Fields")
    app.find("Show earlier door", "push button")
    app.click(app.find("Details"))
    app.press("Forget…")
    app.find("Forget All Earlier Values?")
    app.press("Forget")
    app.gone("Removed Fields")
    app.gone("Earlier Values of Password")
    app.press("Remove from the favourites")
    app.find("Add to the favourites", "push button")
    app.press("Name and Tags…")
    app.find("Name and Tags")
    app.type("Name", "bank")
    app.type("Folder", "money")
    app.press("Store")
    app.find(part="Something with this name already exists.")
    app.type("Name", "market")
    app.type("Tags, with commas between", "new")
    app.press("Store")
    app.gone("Name and Tags", "label")
    row(app, "market")
    app.find("#new, 1 item", "list item")
    app.gone("#buy, 1 item", "list item")
    app.press("Add an item")
    app.press("Login")
    app.type("Name", "half typed")
    app.type("Password", "half typed word")
    app.press("Cancel")
    app.press("Add an item")
    app.press("Login")
    check("half typed" not in app.said(), "nothing of an item that was given up is in the next form")
    app.press("Cancel")
    app.gone("New Item: Login")
    locked_over(app, password)
    said = app.said()
    check(not any(text in said for text in ["market", "bank", "money", "#new", password]), "nothing of it is there while locked")
    app.end()
    del state["app"]
    made.run("unlock", "--passcode-fd=0", given=PASSCODE)
    shown = made.run("show", "market", "--collection", "money")
    check("ada" in shown and "shop.example" in shown, "the command reads what the app has stored")
    made.end()
    resume(before)


def listing():
    """What the list shows and what is done from it, at every width."""
    before = set_aside()
    lists.filled(SCRATCH / "listing", PASSCODE)
    app = begin("listing")
    lists.play(app, check)
    app.end()
    del state["app"]
    resume(before)


def locked_over(app, password):
    """Locks over what is above the page, and over what is typed: nothing of it stays, then or after the next unlock."""
    show(app, "market")
    app.press("Edit")
    app.type("Password", "half changed word")
    app.press("Save")
    app.press("Earlier Values of Password")
    app.press("Show earlier Password")
    app.find(password)
    app.press("Lock now")
    app.find("Holdfast is locked")
    check(password not in app.said() and "half changed" not in app.said(), "nothing above the page is there while locked")
    windows = subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(app.process.pid)], capture_output=True, text=True)
    check(len(windows.stdout.split()) == 1, "and no window beside the main one")
    unlock(app)
    opened(app)
    show(app, "market")
    app.press("Edit")
    app.type("User Name", "half typed name")
    app.press("Generate Password")
    app.find(part="bits that nobody knows")
    app.press("Lock now")
    app.find("Holdfast is locked")
    check("half typed" not in app.said() and "bits that" not in app.said(), "nothing that was typed is there while locked")
    unlock(app)
    opened(app)
    show(app, "market")
    app.find("ada")
    check("half typed" not in app.said(), "nor after the unlock")
    app.press("Lock now")
    app.find("Holdfast is locked")


def appearances():
    """A list of items, one item and the form of a new one: dark, in high contrast, with large text and in a narrow window."""
    before = set_aside()
    made = Device(os.environ["HOLDFAST_COMMAND"], SCRATCH / "appearances", PASSCODE)
    paper = SCRATCH / "plan.txt"
    paper.write_text("on paper")
    made.run(
        "add", "Mail", "-u", "ada", "--url", "https://mail.example", "--otp", "--notes", "--tag", "work", "--attach", str(paper),
        "--secret-fd=0", given="purple hammer\nGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\nAsk Grace for a second key.",
    )
    made.run("edit", "Mail", "-f", "password", "--secret-fd=0", given="yellow hammer")
    made.run("add", "Heating", "--kind=note", "--tag", "home", "--secret-fd=0", given="Bleed the radiators in autumn.")
    made.end()
    # What a desktop says of the size of texts: a half more than usual.
    large = SCRATCH / "large-text"
    large.write_text("Xft.dpi: 144\n")
    heights = {}
    for name, environment, width in [
        ("light", {}, 780), ("dark", {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark"}, 780),
        ("high-contrast", {"ADW_DEBUG_HIGH_CONTRAST": "1"}, 780), ("large-text", {"XENVIRONMENT": str(large)}, 780),
        ("narrow", {}, 380),
    ]:
        app = begin("appearances", environment)
        if width < 780:
            app.resize(width, 640)
        heights[name] = row(app, "Mail").extents()[3]
        app.shot(f"70-items-{name}")
        show(app, "Mail")
        app.find(part="left")
        app.find("Earlier Values of Password")
        app.shot(f"71-item-{name}")
        app.press("Edit")
        app.find(part="Strong.")
        app.shot(f"71-item-editing-{name}")
        app.press("Cancel")
        app.press("Back")
        app.press("Add an item")
        app.press("Login")
        app.find("New Item: Login")
        app.type("Name", "shop")
        app.press("Generate Password")
        app.find(part="bits that nobody knows")
        app.shot(f"72-generator-{name}", "root")
        app.press("Use")
        app.find(part="Strong.")
        app.shot(f"72-form-{name}")
        app.press("Cancel")
        app.end()
    check(heights["large-text"] > heights["light"], f"texts are as large as the desktop says: {heights}")
    del state["app"]
    resume(before)


def dropping():
    """Files that are dragged in from another program: stored, attached to the item that is open, or imported."""
    before = set_aside()
    made = Device(os.environ["HOLDFAST_COMMAND"], SCRATCH / "dropping", PASSCODE)
    made.run("add", "Mail", "-u", "ada", "--secret-fd=0", given="purple hammer")
    database = SCRATCH / "dropped.kdbx"
    database.write_text("not what its name says")
    made.end()
    app = begin("dropping")
    row(app, "Mail")
    paper = SCRATCH / "dropped paper.txt"
    paper.write_text("on paper")
    source = DragSource(paper)
    source.drop(app, lambda: app.all("Add a File", "label"), "a file that was dropped is to be added")
    app.press("Store")
    app.find("Stored")
    row(app, "dropped paper.txt")
    show(app, "Mail")
    app.find("Show Password", "push button")
    source.drop(app, lambda: app.all("Look at File", "push button"), "a file that was dropped on an item is attached")
    app.press("Look at File")
    app.find("on paper")
    app.press("Close")
    app.press("Back")
    source.end()
    source = DragSource(database)
    source.drop(app, lambda: app.all("Nothing Was Imported", "label"), "a database that was dropped is read")
    app.press("Close")
    source.end()
    source = DragSource(paper, database)
    source.drop(app, lambda: app.all("Drop one file at a time."), "several at once are none")
    source.end()
    app.end()
    del state["app"]
    resume(before)


def importing():
    """A file of another program is shown before it is stored; what is there already is left out."""
    before = set_aside()
    made = Device(os.environ["HOLDFAST_COMMAND"], SCRATCH / "importing", PASSCODE)
    made.run("add", "router", "-u", "ada", "--secret-fd=0", given="grey hammer")
    base, table = SCRATCH / "base.kdbx", SCRATCH / "browser.csv"
    reading, writing = os.pipe()
    os.write(writing, b"another long horse\n")
    os.close(writing)
    subprocess.run(
        [made.program, "export", str(base), "--passcode-fd=0", f"--file-password-fd={reading}"], env=made.environment,
        input=PASSCODE + "\n", text=True, pass_fds=(reading,), check=True, capture_output=True, timeout=120,
    )
    os.close(reading)
    made.end()
    table.write_text(
        "name,url,username,password\nshop,https://shop.example,bob,yellow hammer\npost,https://post.example,bob,red hammer\n"
    )
    app = begin("importing")
    row(app, "router")
    import_file(app, table)
    app.find("Import These Items?")
    app.find(part="2 new items")
    app.shot("60-import-plan")
    app.press("Cancel")
    app.gone("Import These Items?")
    check(not app.all("shop", "list item"), "a plan stores nothing")
    import_file(app, table)
    app.press("Import")
    app.find(part="2 items were stored.")
    app.press("Close")
    row(app, "shop")
    row(app, "post")
    import_file(app, base)
    app.find("The File Is Encrypted")
    app.type("Password of the file", "wrong one")
    app.press("Open")
    app.find(part="That password is not the right one")
    key = SCRATCH / "base.keyx"
    key.write_bytes(bytes(range(32)))
    app.press("Choose a Key File…")
    choose(app, key)
    app.find(part="base.keyx")
    app.shot("61-import-password")
    app.type("Password of the file", "another long horse")
    app.press("Open")
    app.find(part="That password is not the right one")
    app.press("Cancel")
    import_file(app, base)
    app.find("The File Is Encrypted")
    app.type("Password of the file", "another long horse")
    app.press("Open")
    app.find(part="1 is there already")
    check(not app.all("Import", "push button"), "there is nothing to import")
    app.press("Close")
    broken = SCRATCH / "broken.json"
    broken.write_text('{"items": [')
    import_file(app, broken)
    app.find("Nothing Was Imported")
    app.press("Close")
    app.gone("Nothing Was Imported")
    import_file(app, table)
    app.find(part="2 are there already")
    app.keys("ctrl+l")
    app.find("Holdfast is locked")
    check(not any(name in app.said() for name in ["shop", "post", "router"]), "no plan is there while locked")
    app.end()
    del state["app"]
    resume(before)


def import_file(app, path):
    app.focus()
    app.keys("ctrl+i")
    choose(app, path)


def pictures():
    """QR codes of one-time codes: of a picture that was copied, opened or dropped. A picture without one stays a file."""
    before = set_aside()
    made = Device(os.environ["HOLDFAST_COMMAND"], SCRATCH / "pictures", PASSCODE)
    made.run("add", "Mail", "-u", "ada", "--secret-fd=0", given="purple hammer")
    made.end()
    keys = {name: base64.b32encode(name.encode().ljust(20, b"!")).decode() for name in ["copied", "opened", "dropped"]}
    codes = {name: qr_code(name, f"otpauth://totp/Shop:{name}?secret={key}&issuer=Shop") for name, key in keys.items()}
    app = begin("pictures")
    show(app, "Mail")
    app.press("Copy Password")
    until(lambda: clipboard() == "purple hammer", "the password is on the clipboard")
    app.press("Back")
    import_clipboard(app, "No image is on the clipboard.")
    import_copied(app, codes["copied"], "Import These Items?")
    app.find("Shop/copied")
    app.shot("73-qr-plan-light")
    import_one(app)
    shows_code(app, "copied", keys["copied"])
    app.shot("74-qr-item-light")
    app.press("Back")
    import_file(app, codes["opened"])
    app.find("Shop/opened")
    import_one(app)
    source = DragSource(codes["dropped"])
    source.drop(app, lambda: app.all("Import These Items?"), "a picture that was dropped is read")
    import_one(app)
    for name in ["opened", "dropped"]:
        shows_code(app, name, keys[name])
        app.press("Back")
    show(app, "Mail")
    app.find("Show Password", "push button")
    source.drop(app, lambda: app.all("Look at File", "push button"), "a picture that was dropped on an item is attached")
    app.press("Back")
    source.end()
    other = qr_code("other", "https://shop.example")
    blank = SCRATCH / "blank.png"
    subprocess.run(["convert", "-size", "200x200", "xc:white", str(blank)], check=True)
    import_copied(app, blank, "Nothing Was Imported")
    app.find("There is no QR code in the image.")
    app.press("Close")
    import_copied(app, other, "Import These Items?")
    app.find(part="1 thing is left out or changed")
    check(not app.all("Import", "push button"), "a code of something else is no item")
    app.press("Close")
    source = DragSource(blank)
    source.drop(app, lambda: app.all("Add a File", "label"), "a picture without a code is to be stored")
    app.press("Cancel")
    source.end()
    app.end()
    app = begin("pictures", {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark"})
    row(app, "Mail")
    import_copied(app, codes["copied"], "Import These Items?")
    app.find(part="1 is there already")
    app.shot("73-qr-plan-dark")
    app.keys("ctrl+l")
    app.find("Holdfast is locked")
    check("copied" not in app.said(), "no plan is there while locked")
    app.end()
    del state["app"]
    resume(before)


def import_one(app):
    """Goes from a plan of one item to its end, and back to the list."""
    app.press("Import")
    app.find(part="1 item was stored.")
    app.press("Close")
    app.gone(part="1 item was stored.")


def qr_code(name, text):
    """A picture with a QR code."""
    path = SCRATCH / f"{name}.png"
    subprocess.run(["qrencode", "--size=4", "--output", str(path), text], check=True)
    return path


def import_clipboard(app, said):
    """Has the app import what is on the clipboard, until it says so."""
    for title in ["Import These Items?", "Nothing Was Imported", "Imported"]:
        app.gone(title, "label")  # a sheet that is on its way out takes the click
    app.click(app.find("Main menu"))
    app.press("Import QR Code from Clipboard", "menu item")
    app.find(said)


def import_copied(app, path, said):
    """As `import_clipboard`, where another program offers a picture there."""
    kind = "image/png"
    offering = ["xclip", "-quiet", "-selection", "clipboard", "-t", kind, "-i", str(path)]
    owner = subprocess.Popen(offering, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: kind in clipboard_targets(), f"{kind} is on the clipboard")
        import_clipboard(app, said)
    finally:
        owner.terminate()
        owner.wait()


def shows_code(app, name, key):
    """The item has the one-time code of this key (RFC 6238), as it is now."""
    show(app, name)
    until(lambda: says_code(app, key, 30, 0), f"the code of {name}")


def says_code(app, key, period, later):
    """Whether the app shows the code of now, or that of a later step (RFC 6238)."""
    digits = re.sub(r"[^0-9\n]", "", app.said())
    for ago in (0, 5):
        step = int(time.time() - ago) // period + later
        digest = hmac.digest(base64.b32decode(key), struct.pack(">Q", step), "sha1")
        start = digest[-1] & 15
        if f"{(struct.unpack('>I', digest[start:start + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}" in digits:
            return True
    return False


def files():
    app = state["app"]
    source = SCRATCH / "scan.bin"
    source.write_bytes(bytes(range(256)) * 12_000)
    app.focus()
    app.keys("ctrl+o")
    choose(app, source)
    app.find("Add a File", "label")
    app.press("Store")
    app.find("Stored")
    show(app, "scan.bin")
    app.find(part="This is a file. Save it to open it.")
    check(not app.all("Show the value", "push button"), "a file is not shown as text")
    app.press("Save as File…")
    target = SCRATCH / "saved.bin"
    choose(app, target)
    app.find(part="Written.")
    check(target.read_bytes() == source.read_bytes(), "what was saved is what was stored")
    check(target.stat().st_mode & 0o777 == 0o600, "and only its owner reads it")
    app.press("Back")


def choose(app, path, stays=True):
    """Answers the system's dialog with a path, as a person types it; `stays` where the app's window does then."""
    dialog = until(lambda: next(iter(dialogs(app)), None), "a file dialog")
    subprocess.run(["xdotool", "windowfocus", "--sync", dialog], check=True)
    entry = until(lambda: app.all(role="dialog") or app.all(role="file chooser") or app.all(role="frame"), "the dialog")
    del entry
    app.keys("ctrl+a")
    app.typed(str(path))
    app.keys("Return")
    if stays:
        until(lambda: not dialogs(app), "the dialog is gone")
        app.focus()


def dialogs(app):
    """The windows beside the app's own that have a title: a tooltip is a window too."""
    return [window for window in windows(app) if title(window) not in ("", "Holdfast", "holdfast-desktop")]


def windows(app):
    return subprocess.run(
        ["xdotool", "search", "--onlyvisible", "--pid", str(app.process.pid)], capture_output=True, text=True
    ).stdout.split()


def locking():
    app = state["app"]
    show(app, "notes")
    app.press("Show the value")
    app.find(part="second line")
    app.press("Lock now")
    locked(app, "You locked it.")
    app.shot("10-locked")
    app.focus()
    app.typed(PASSCODE)
    app.keys("Return")
    opened(app)
    app.focus()
    app.keys("ctrl+shift+l")
    locked(app, "Locked in an emergency. Nothing was destroyed.")
    unlock(app)
    opened(app)
    screen_saver(True)
    locked(app, "Locked with your session.")
    screen_saver(False)
    unlock(app)
    opened(app)
    logind = state["logind"]
    for happen, why in [
        (lambda: logind.sleep(True), "Locked before sleep."),
        (logind.lock, "Locked with your session."),
        (lambda: logind.active(False), "Locked because of a user switch."),
    ]:
        happen()
        locked(app, why)
        unlock(app)
        opened(app)
        logind.sleep(False)
        logind.active(True)
    add_value(app)
    app.type("Name", "half typed")
    app.type("Value", "half typed value")
    SECRETS.extend(["half typed", "half typed value"])
    logind.sleep(True)
    locked(app, "Locked before sleep.")
    logind.sleep(False)
    unlock(app)
    opened(app)
    check(not app.all("New Item") and "half typed" not in app.said(), "what was half typed is gone")


def pick(app, combo, entry, steps):
    """Chooses in a list by keyboard: the entry so many below the first. A list that opens late misses keys."""
    app.focus()
    for _ in range(5):
        # A click on what is scrolled away would be the header's, or nobody's.
        app.bring_into_view(lambda: app.find(combo, "combo box"))
        app.click(app.find(combo, "combo box"))
        app.keys("Home", *(["Down"] * steps), "Return")
        try:
            return app.find(entry, patience=4)
        except Missing:
            app.keys("Escape")
    raise Missing(entry)


def settings():
    app = state["app"]
    go(app, "Settings")
    app.find("App Lock", "label")
    check(not app.find("Fingerprint", "check box").has(Atspi.StateType.SENSITIVE), "no sensor")
    app.find("No fingerprint reader is available")
    app.switch("Ask for the passcode")
    app.find("Turn the App Lock Off")
    app.shot("11-proof")
    app.type("Passcode", "wrong")
    app.press("Change")
    app.find(part="Nothing was changed. That passcode is wrong.")
    until(lambda: app.is_on("Ask for the passcode"), "the switch is put back")
    app.switch("Ask for the passcode")
    app.press("Cancel")
    until(lambda: app.is_on("Ask for the passcode"), "turning away changes nothing")
    app.shot("12-settings")
    without_lock(app)
    app.press("Change…")
    app.find("Change the Passcode")
    app.type("Current passcode", PASSCODE)
    app.type("New passcode", "one thing")
    app.type("Repeat passcode", "another thing")
    app.press("Change")
    app.find(part="The two passcodes differ.")
    app.press("Cancel")
    app.switch("Self-destruct")
    app.find("Turn Self-destruct On")
    app.type("Passcode", PASSCODE)
    app.press("Continue")
    app.find(part="will then destroy this vault")
    app.shot("13-self-destruct")
    app.press("Turn On")
    app.find(part="On in 29 seconds")
    app.shot("14-countdown")
    app.press("Cancel")
    app.find(part="Cancelled. Nothing was changed.")
    until(lambda: not app.is_on("Self-destruct"), "self-destruct stays off")


def without_lock(app):
    """What the app lock decides can be changed only while it is on, and says why not."""
    names = [("Lock after leaving", "combo box"), ("Lock when idle", "combo box"), ("Lock when minimised", "check box")]

    def are_sensitive(wanted):
        return lambda: all(app.find(*name).has(Atspi.StateType.SENSITIVE) == wanted for name in names)

    why = "Without the app lock, nothing locks or is covered by itself."
    check(are_sensitive(True)() and not app.all(why), "they can be changed")
    change(app, "Ask for the passcode", "Turn the App Lock Off")
    until(are_sensitive(False), "nothing can be changed that does nothing")
    app.find(why)
    app.shot("12-settings-without-lock")
    change(app, "Ask for the passcode", "Turn the App Lock On")
    until(are_sensitive(True), "they can be changed again")


def log():
    app = state["app"]
    app.press("Lock now")
    unlock(app, "wrong")
    app.find(part="That passcode is wrong.")
    back_up("of-the-log")
    unlock(app)
    opened(app)
    go(app, "Log")
    # Of its kind: what was entered wrong before it is no backup.
    app.find("A backup was made")
    app.find(part="complete and unchanged")
    app.find("The vault was created")
    app.find("Locked before sleep")
    app.find(part="Locked in an emergency")
    app.shot("15-log")
    go(app, "Vault")


def doctor():
    app = state["app"]
    go(app, "Doctor")
    app.find(part="Your vault is protected by a passcode; a thief of this disk can guess at it")
    app.find("Memory")
    app.find("Fingerprint reader")
    app.find(part="No fingerprint reader is available")
    app.find(part="Only the passcode's strength protects a copy of the vault")
    app.find(part="parts work")
    app.press("Test Everything")
    app.find(part="tested just now")
    check(app.find("Vault folder"), "the folder is looked at")
    app.shot("16-doctor")
    go(app, "Vault")


def verdict():
    """The doctor of a vault that nothing protects: its buttons do what they say, and the verdict follows."""
    before = set_aside()
    folder = SCRATCH / "verdict"
    folder.mkdir(mode=0o700)
    environment = os.environ | {"HOLDFAST_HOME": str(folder / "home")}
    subprocess.run(
        [os.environ["HOLDFAST_COMMAND"], "init", "--device", "--file"], env=environment, stdin=subprocess.DEVNULL,
        check=True, capture_output=True,
    )
    app = state["app"] = App(PROGRAM, folder / "home")
    opened(app)
    go(app, "Doctor")
    app.find(part="Nothing but this user's account protects your vault")
    app.find("The vault has no passcode")
    check(not app.all("Back Up…"), "a backup of it would open nowhere")
    app.shot("16-verdict")
    app.press("Set a Passcode…")
    app.find("Set a Passcode", "label")
    app.type("New passcode", PASSCODE)
    app.type("Repeat passcode", PASSCODE)
    app.press("Set")
    app.find(part="Your vault is protected by a passcode")
    app.gone("The vault has no passcode")
    app.find("Back Up…", "push button")
    app.press("New Recovery Phrase…")
    app.find("Vault Recovery Phrase")
    app.press("Cancel")
    app.gone("Vault Recovery Phrase")
    go(app, "Settings")
    change(app, "Ask for the passcode", "Turn the App Lock Off")
    go(app, "Doctor")
    app.press("Turn On the App Lock…")
    app.find("Turn the App Lock On")
    app.type("Passcode", PASSCODE)
    app.press("Change")
    app.find("Changed")
    app.gone("Turn On the App Lock…")
    app.press("Lock now")
    app.find("Holdfast is locked")
    check(not app.all(part="protected by a passcode") and not app.all("New Recovery Phrase…"), "no verdict while locked")
    app.end()
    del state["app"]
    resume(before)


def fields(app, title, confirm, **values):
    """Answers a sheet that asks for fields, by their names."""
    app.find(title, "label")
    for name, value in values.items():
        app.type(name.replace("_", " "), value)
    app.press(confirm)


def copied(app, button, of_form):
    """What a row of the identity gives the clipboard.

    A press is answered before the app has copied, and who asks in between is answered by two owners: xclip then takes the
    STRING of the second one, which ends with a zero. So it is asked until the answer has the form that is known.
    """
    app.press(button)
    seen = []

    def given():
        text = clipboard().strip()
        if text not in seen:
            seen.append(text)
        return re.fullmatch(of_form, text) and text

    try:
        return until(given, f"{button} copies what has its form")
    except Missing as missing:
        raise Missing(f"{missing}; seen: {seen!r}") from None


def phrase_sheet(app, shot=None):
    """The words of a new phrase, which its owner says to have written down."""
    app.find("I Wrote It Down", "push button")
    words = [node.name.split(". ") for node in app.all(role="label", part=". ")]
    words = {int(number): word for number, word in (pair for pair in words if pair[0].isdigit())}
    check(sorted(words) == list(range(1, 25)), "24 words are shown")
    if shot:
        app.shot(shot)
    app.press("I Wrote It Down")
    app.gone("I Wrote It Down", "push button")
    text = " ".join(words[number] for number in sorted(words))
    check(f"2. {words[2]}" not in app.said(), "the words are off the screen")
    return text


def identity():
    """The three states with every action, against the server as it is installed, and the command as another device."""
    app = state["app"]
    server = Server(os.environ["HOLDFAST_SERVER"], SCRATCH)
    other = Device(os.environ["HOLDFAST_COMMAND"], SCRATCH / "other", "another passcode")
    try:
        identity_life(app, server, other)
    finally:
        other.end()
        server.end()


def printing(app):
    """The sheet of the words on paper, or where there is no printer, in a file."""
    app.press("Print…")
    main = app.window()
    dialog = until(lambda: next((w for w in windows(app) if w != main), None), "the system's dialog")
    subprocess.run(["xdotool", "windowfocus", "--sync", dialog], check=True)

    def pressed():
        size = subprocess.run(["xdotool", "getwindowgeometry", "--shell", dialog], capture_output=True, text=True)
        size = dict(line.split("=") for line in size.stdout.split())
        if "HEIGHT" in size:
            # The list of printers has one row, "Print to File", once they are found; the button stands in the corner.
            for place in (("85", "95"), (str(int(size["WIDTH"]) - 42), str(int(size["HEIGHT"]) - 22))):
                subprocess.run(["xdotool", "mousemove", "--window", dialog, *place, "click", "1"], capture_output=True)
        return len(windows(app)) == 1

    until(pressed, "the sheet is sent to the printer")
    paper = until(lambda: next(SCRATCH.rglob("*.pdf"), None), "a printed sheet")
    until(lambda: paper.read_bytes().rstrip().endswith(b"%%EOF"), "the sheet is printed to its end")
    check(paper.read_bytes().startswith(b"%PDF"), "the sheet is a PDF")
    paper.unlink()
    until(lambda: len(windows(app)) == 1, "the dialog is gone")
    app.focus()


def owner_proves(app, confirm, shot=None):
    """What cannot be taken back wants the passcode, though the vault is open; a wrong one changes nothing."""
    app.type("Passcode", state["passcode"])
    if shot:
        app.shot(shot)
    app.press(confirm)


def identity_life(app, server, other):
    go(app, "Identity")
    app.find(part="Ready: this device has no identity.")
    app.shot("30-identity-ready")
    # Ready: what cannot be is said in words.
    app.press("Create…")
    fields(app, "Create an Identity", "Continue", Server="http://example.org")
    app.find(part="Plain http is allowed to this machine only.")
    app.press("Create…")
    fields(app, "Create an Identity", "Continue", Server=server.address)
    app.press("Cancel")
    app.gone("I Wrote It Down", "push button")
    app.press("Create…")
    fields(app, "Create an Identity", "Continue", Server=server.address)
    printing(app)
    first = phrase_sheet(app, "31-identity-phrase")
    app.find(part="Created: there is no session.")
    app.find(part="Trusted because it is the first one seen.")
    name = copied(app, "Copy the identity", "E[A-Za-z0-9_-]{43}")
    # The key that is believed is the server's.
    copied(app, "Copy the server key", re.escape(server.key))
    copied(app, "Copy the server", re.escape(server.address))
    app.shot("32-identity-created")
    # Created and authenticated.
    app.press("Rotate")
    app.find("This device has a new key")
    app.press("Open a Session")
    app.find(part="Authenticated: a session is open.")
    app.find(part="Can be refreshed until")
    app.press("Refresh")
    app.find("The session was refreshed")
    app.press("Send…")
    fields(app, "Ask an App Server", "Send", Path="/foo/bar", JSON="{ }")
    app.find(part="The path or the JSON is not valid.")
    app.press("Send…")
    fields(app, "Ask an App Server", "Send", Server=server.app, Path="/foo/bar", JSON='{"foo":"one","bar":"two"}')
    app.find(part='"wasFoo":"one"')
    app.shot("33-identity-authenticated")
    # Another device joins, and is taken out again.
    app.press("Link…")
    fields(app, "Link Another Device", "Link", Link_container="no container")
    app.find(part="That is not a link container of this identity.")
    container = other.run(
        "identity", "link", name, "--server", server.address, "--passcode-fd=0", given="another passcode"
    )
    app.press("Link…")
    fields(app, "Link Another Device", "Link", Link_container=container)
    app.type("Passcode", "whoever sits here")
    app.press("Link")
    app.find(part="That passcode is wrong.")
    app.press("Link…")
    fields(app, "Link Another Device", "Link", Link_container=container)
    owner_proves(app, "Link", "37-identity-proof")
    app.find("The device was linked")
    other.run("identity", "session", "open")
    theirs = json.loads(other.run("identity", "status", "--json"))["device"]
    app.press("Unlink…")
    fields(app, "Remove a Device", "Unlink", Device="E")
    app.find(part="That is not a device: 44 characters that begin with E.")
    app.press("Unlink…")
    fields(app, "Remove a Device", "Unlink", Device=theirs)
    owner_proves(app, "Unlink")
    app.find("The device was removed")
    check(raises(lambda: other.run("identity", "session", "open")), "what was taken out gets no session")
    app.press("End the Session")
    app.find(part="Created: there is no session.")
    # Another phrase, and nothing of all this while locked.
    app.press("Replace…")
    second = phrase_sheet(app)
    owner_proves(app, "Replace")
    app.find(part="The new phrase is now in effect. Destroy the sheet with the old one.")
    prove_words(app, second.split())
    SECRETS.extend([first, second, name])
    app.press("Lock now")
    locked(app, "You locked it.")
    unlock(app, state["passcode"])
    opened(app)
    app.find(part="Created: there is no session.")
    # Lost on this device, and taken back with the words.
    app.press("Forget…")
    app.find("Forget the Identity Here?")
    owner_proves(app, "Forget")
    app.find(part="Ready: this device has no identity.")
    for words, wrong in [
        (state["words"], "These are the vault's words. The identity has different ones, on their own sheet."),
        (first, "The server refused."),
    ]:
        app.press("Recover…")
        fields(
            app, "Recover an Identity", "Continue", Server=server.address, Identity=name,
            Identity_recovery_phrase=words,
        )
        phrase_sheet(app)
        app.find(wrong, patience=60)
    app.press("Recover…")
    fields(
        app, "Recover an Identity", "Continue", Server=server.address, Identity=name,
        Identity_recovery_phrase=second,
    )
    phrase_sheet(app)
    app.find("Created: there is no session.", patience=60)
    # This device joins the identity of the other one, by text and by picture.
    app.press("Delete the Account…")
    app.find("Delete the Account?")
    app.shot("34-identity-delete")
    owner_proves(app, "Delete Permanently")
    app.find(part="Ready: this device has no identity.")
    theirs = "another passcode"
    other.run("identity", "erase", "--yes", "--passcode-fd=0", given=theirs)
    other.run(
        "identity", "create", "--server", server.address, "--recovery-out-fd=1", "--passcode-fd=0", given=theirs
    )
    name = json.loads(other.run("identity", "status", "--json"))["identity"]
    app.press("Join…")
    fields(app, "Join One of Yours", "Create the Container", Server=server.address, Identity=name)
    app.find(part="Waiting for your other device.")
    app.resize(780, 890)
    app.find("QR code of the link container")
    app.shot("35-identity-joining")
    container = copied(app, "Copy the Text", r"\{.*\}")
    code_is_drawn(app, container)
    app.resize(780, 680)
    app.press("Open a Session")
    app.find(part="The server refused.")
    other.run("identity", "accept-link", container, "--passcode-fd=0", given="another passcode")
    app.press("Open a Session")
    app.find(part="Authenticated: a session is open.")
    # The server is gone: nothing is lost, and it is said.
    server.end()
    app.press("Rotate")
    app.find(part="The server cannot be reached.")
    app.shot("36-identity-unreachable")
    app.find("Find Out", "push button")
    app.press("Forget…")
    owner_proves(app, "Forget")
    app.find(part="Ready: this device has no identity.")
    go(app, "Log")
    for line in ["The identity was created", "The identity was recovered", "The identity was deleted", "A device was linked"]:
        app.find(line)
    go(app, "Vault")


def prove_words(app, words):
    """The owner still has the sheet: three words are asked for, and after wrong ones the same three."""
    for answer, said in [
        (lambda asked: "zoo " * len(asked), "That does not match the identity's sheet."),
        (lambda asked: " ".join(words[number - 1] for number in asked), "You still have the words"),
    ]:
        app.press("Prove It…")
        question = app.find(part="of the identity's sheet, in this order.").name
        asked = [int(number) for number in re.findall(r"\d+", question)]
        check(len(asked) == 3, "three words are asked for")
        app.type("The words, in this order", answer(asked))
        app.press("Compare")
        app.find(part=said)
    app.find(part="Next check on")


def code_is_drawn(app, text):
    """The picture has the modules that libqrencode makes of the text, dark on light."""
    library = ctypes.CDLL("libqrencode.so.4")

    class Code(ctypes.Structure):
        _fields_ = [("version", ctypes.c_int), ("width", ctypes.c_int), ("data", ctypes.POINTER(ctypes.c_ubyte))]

    library.QRcode_encodeData.restype = ctypes.POINTER(Code)
    data = text.encode()
    code = library.QRcode_encodeData(len(data), data, 0, 1).contents
    modules = [[code.data[row * code.width + column] & 1 for column in range(code.width)] for row in range(code.width)]
    x, y, across, down = app.find("QR code of the link container").extents()
    width = code.width + 8
    scale = max(2, -(-280 // width))
    check(across >= width * scale and down >= width * scale, "the picture is as large as its modules")
    left, top = x + (across - width * scale) // 2 + 4 * scale, y + (down - width * scale) // 2 + 4 * scale
    shown = app.pixels()

    def wrong(left, top, rows):
        middle = scale // 2
        return sum(
            (shown(left + column * scale + middle, top + row * scale + middle) < 128) != bool(dark)
            for row, line in rows for column, dark in enumerate(line)
        )

    # Where the window's own edge begins is the window system's affair: the first row tells where the code is.
    lines = list(enumerate(modules))
    places = [(left + dx, top + dy) for dx in range(-48, 49) for dy in range(-48, 49)]
    found = [place for place in places if wrong(*place, lines[:1]) == 0 and wrong(*place, lines) == 0]
    check(found, "the picture has every module of the code")


def refusals():
    app = state["app"]
    app.press("Lock now")
    app.find("Holdfast is locked")
    for number, left in enumerate([4, 3, 2]):
        unlock(app, f"wrong {number}")
        app.find(part="That passcode is wrong.")
        app.find(f"{left} attempts left")
    app.find(part="Try again in 0:")
    held(app, app.find("Unlock", "push button"), "no passcode is taken during the delay")
    app.shot("16-delay")
    app.press("Use the Recovery Phrase…")
    app.type("Recovery phrase", "not these words")
    app.press("Unlock")
    app.find(part="is not a recovery word")
    app.type("Recovery phrase", state["words"])
    app.type("New passcode", "a different one")
    app.type("Repeat passcode", "another one")
    app.press("Unlock")
    app.find(part="The two passcodes differ.")
    app.shot("17-recovery")
    app.type("Repeat passcode", "a different one")
    app.press("Unlock")
    opened(app)
    SECRETS.append("a different one")
    state["passcode"] = "a different one"
    app.press("Lock now")
    unlock(app, "a different one")
    opened(app)


def folder():
    """A folder whose wipe key went away: the settings and a recovery ask whether it is the vault or a copy."""
    if not pathlib.Path("/usr/bin/swtpm").exists():
        print("\n==== WHAT THE FOLDER IS: NOT TESTED, swtpm is not installed ====\n", flush=True)
        return
    before = set_aside()
    chip = Chip(SCRATCH / "folder-chip")
    made = Device(os.environ["HOLDFAST_COMMAND"], SCRATCH / "folder", PASSCODE, unlocks=False)
    try:
        folder_life(made.phrase, made.folder / "home", App(PROGRAM, made.folder / "home", chip.environment))
    finally:
        chip.end()
    resume(before)


# A button that its row activates is named by both.
CLAIM = "The Vault… It is the vault itself"
LEAVE = "A Copy… It is a copy"


def folder_life(phrase, home, app):
    state["app"] = app
    app.focus()
    app.typed(PASSCODE)
    app.keys("Return")
    opened(app)
    go(app, "Settings")
    check(not app.all(CLAIM, "push button"), "nothing is asked while the folder has its key")
    give_pin(app)
    # Any program of the user can do that.
    (home / "wipe.key").unlink()
    app.press("Remove the PIN")
    app.type("Passcode", PASSCODE)
    app.press("Remove")
    app.find(part="The security chip holds keys for this vault that another folder may own.")
    app.find(part="Nothing else can be changed until you say what this folder is")
    app.shot("52-settings-folder")
    app.press(CLAIM)
    app.find("This Folder Is the Vault")
    app.type("Passcode", PASSCODE)
    app.press("Continue")
    app.find("Changed")
    app.gone(CLAIM, "push button")
    check((home / "wipe.key").stat().st_size == 128, "the key is back")
    app.find("Remove the PIN", "push button")
    # In a copy the PIN goes, and it is asked for at the next unlock already.
    (home / "wipe.key").unlink()
    app.press("Lock now")
    app.press("Use the Passcode")
    unlock(app)
    go(app, "Settings")
    app.press(LEAVE)
    app.find("This Folder Is a Copy")
    app.type("Passcode", PASSCODE)
    app.press("Continue")
    app.find("Changed")
    app.gone(LEAVE, "push button")
    app.gone("Remove the PIN", "push button")
    # A recovery with a new passcode is a change, too.
    give_pin(app)
    (home / "wipe.key").unlink()
    app.press("Lock now")
    app.press("Use the Recovery Phrase…")
    app.type("Recovery phrase", phrase)
    app.type("New passcode", "another passcode")
    app.type("Repeat passcode", "another passcode")
    app.press("Unlock")
    app.find(part="Say whether this folder is the vault itself or a copy.")
    app.shot("53-recovery-folder")
    app.press("The Vault")
    app.press("Unlock")
    opened(app)
    check((home / "wipe.key").stat().st_size == 128, "the key is back")
    app.end()
    del state["app"]


def give_pin(app):
    app.press("Set the PIN")
    app.find("Set a PIN")
    set_pin(app, "2580")
    app.find("The PIN was set")
    app.find("Remove the PIN", "push button")


def focus_loss():
    app = state["app"]
    go(app, "Settings")
    pick(app, "When another window is used", "Treat as leaving", 2)
    go(app, "Vault")
    row(app, "notes")
    app.focus()
    app.unfocus()
    locked(app, "Locked after you left.")
    app.focus()
    app.typed(state["passcode"])
    app.keys("Return")
    opened(app)


def owner():
    """The owner's finger, his account and the chip, from the assistant on, with the real fprintd, PAM and a TPM in software."""
    if why := Machine.missing():
        print(f"\n==== THE APP'S FINGERPRINTS, ACCOUNTS AND CHIP ARE NOT TESTED: {why} ====\n", flush=True)
        return
    before = set_aside()
    machine, chips = Machine(SCRATCH / "machine", "account password"), []
    environment = {"HOLDFAST_TPM": f"swtpm:path={SCRATCH}/chip/tpm.sock"}
    sensor = Sensor(SCRATCH / "sensor")
    try:
        sensor.enroll("anna", "right-index-finger")
        owner_life(sensor, lambda **more: App(
            PROGRAM, SCRATCH / "owned", environment | more, prefix=machine.prefix
        ), lambda: chips.append(Chip(SCRATCH / "chip")))
    finally:
        sensor.end()
        for chip in chips:
            chip.end()
    if before:
        state["app"] = app = App(PROGRAM, SCRATCH / "home")
        app.focus()
        app.typed(state["passcode"])
        app.keys("Return")
        opened(app)


def finger(app, sensor, name, button="Use the Fingerprint"):
    """Lays a finger on when the reader asks for one."""
    if button:
        app.press(button)
    app.find(part="Touch the fingerprint reader (right index finger).")
    sensor.touch(f"SCAN {name}")


def wrong_fingers(app, sensor, said):
    """Lays one on that is not the owner's, until the reader has had enough."""

    def refused():
        sensor.send("SCAN berta")
        return app.all(part=said)

    until(refused, said)


def owner_life(sensor, start, put_in_chip):
    app = state["app"] = start()
    app.focus()
    # With a chip from the start there would be a vault at once, and no assistant.
    app.press("Choose a Passcode…")
    app.find("Create a Vault")
    put_in_chip()
    # The assistant offers what is there, and a finger that is not the owner's gets nothing.
    app.press("Create a Vault")
    app.type("Passcode", PASSCODE)
    app.type("Repeat passcode", PASSCODE)
    app.press("Continue")
    words, asked = written_down(app)
    phrase = " ".join(words[number] for number in sorted(words))
    for number in asked:
        app.type(f"Word {number}", words[number])
    app.press("Continue")
    app.switch("App lock")
    app.press("Open the Vault")
    app.find("Use the Security Chip?")
    app.shot("40-assistant-chip")
    app.press("Use the Chip")
    app.find("Open with a Finger?")
    finger(app, sensor, "berta")
    app.find(part="Not recognised. Try again.")
    app.shot("41-assistant-finger")
    wrong_fingers(app, sensor, "You were not recognised.")
    finger(app, sensor, "anna")
    app.find("Nothing Here Yet")
    # By hand it stays locked until its owner asks; what the reader says is shown as it says it.
    app.press("Lock now")
    app.find(part="You locked it.")
    app.press("Use the Fingerprint")
    app.find(part="Touch the fingerprint reader (right index finger).")
    for number, said in [(1, "Too short. Try again."), (2, "Centre your finger on the reader."), (3, "Lift your finger and try again.")]:
        sensor.touch(f"RETRY {number}")
        app.find(said)
    app.shot("42-locked-finger")
    app.press("Stop Waiting")
    finger(app, sensor, "anna")
    opened(app)
    # Whoever comes back is asked by himself.
    screen_saver(True)
    app.find(part="Locked with your session.")
    screen_saver(False)
    finger(app, sensor, "anna", button=None)
    opened(app)
    # Switches: off with the passcode, on only with a finger that proves itself.
    go(app, "Settings")
    app.find("It counts wrong passcodes; past the limit only the recovery phrase works")
    until(lambda: app.find("Fingerprint", "check box").has(Atspi.StateType.SENSITIVE), "there is a reader")
    check(app.is_on("Fingerprint") and app.is_on("Security chip"), "both are on")
    change(app, "Fingerprint", "Turn the Fingerprint Off")
    until(lambda: not app.is_on("Fingerprint"), "the fingerprint is off")
    app.switch("Fingerprint")
    finger(app, sensor, "berta", button=None)
    wrong_fingers(app, sensor, "Nothing was changed. You were not recognised.")
    until(lambda: not app.is_on("Fingerprint"), "the switch is put back")
    app.switch("Fingerprint")
    app.find(part="Touch the fingerprint reader (right index finger).")
    app.shot("43-finger-proof")
    sensor.touch("SCAN anna")
    proved(app, "It opens the vault for three days after the passcode, except collections that require more.")
    until(lambda: app.is_on("Fingerprint"), "the fingerprint is on")
    # The account's password, by PAM.
    check(not app.is_on("Account password"), "the account was not asked for")
    app.switch("Account password")
    app.type("Account password", "account password")
    app.press("Continue")
    proved(app, "It opens the vault for three days after the passcode, except collections that require more.")
    until(lambda: app.is_on("Account password"), "the account is on")
    app.shot("44-settings-owner")
    app.press("Lock now")
    for typed, comes in [("wrong", "You were not recognised. Try again, or use the passcode."), ("account password", None)]:
        app.press("Use the Account Password…")
        app.type("Account password", typed)
        app.press("Continue")
        if comes:
            app.find(comes)
    opened(app)
    # Out of the chip, and in again with the words.
    change(app, "Security chip", "Remove the Passcode from the Security Chip")
    until(lambda: not app.is_on("Security chip"), "the chip is off")
    app.switch("Security chip")
    app.type("Passcode", PASSCODE)
    app.type("Vault recovery phrase", "not these words")
    app.press("Change")
    app.find(part="Nothing was changed.")
    until(lambda: not app.is_on("Security chip"), "the switch of the chip is put back")
    app.switch("Security chip")
    app.type("Passcode", PASSCODE)
    app.type("Vault recovery phrase", phrase)
    app.press("Change")
    app.find("Changed")
    until(lambda: app.is_on("Security chip"), "the chip is on")
    # After a start the passcode comes first.
    app.end()
    app = state["app"] = start(LANGUAGE="de")
    app.focus()
    app.find(part="Nach einem Start, und alle drei Tage, kommt zuerst das Kennwort.")
    app.shot("45-german-finger")
    app.typed(PASSCODE)
    app.keys("Return")
    app.find("Noch nichts da")
    app.end()
    del state["app"]


def pin():
    """A PIN that a TPM in software counts: set in the settings, asked for at the lock, used up, and taken away."""
    if not pathlib.Path("/usr/bin/swtpm").exists():
        print("\n==== THE APP'S PIN IS NOT TESTED: swtpm is not installed ====\n", flush=True)
        return
    before = set_aside()
    chip = Chip(SCRATCH / "pin-chip")
    made = Device(os.environ["HOLDFAST_COMMAND"], SCRATCH / "pin", PASSCODE, unlocks=False)
    try:
        pin_life(made.phrase, lambda **more: App(PROGRAM, made.folder / "home", chip.environment | more))
    finally:
        chip.end()
    resume(before)


def resume(before):
    """Goes on with the first vault, where there was an app."""
    if before:
        state["app"] = app = App(PROGRAM, SCRATCH / "home")
        app.focus()
        app.typed(state["passcode"])
        app.keys("Return")
        opened(app)


def set_pin(app, pin, again=None, passcode=PASSCODE):
    """Fills the sheet that is up."""
    app.type("Current passcode", passcode)
    app.type("New PIN", pin)
    app.type("Repeat PIN", pin if again is None else again)
    app.press("Set the PIN")


def answer_pin(app, pin):
    app.type("PIN", pin)
    app.press("Unlock")


def pin_life(phrase, start):
    app = state["app"] = start()
    app.focus()
    app.find(part="Enter your passcode to continue.")
    check(not app.all("Use the PIN", "push button"), "no PIN is asked for where there is none")
    app.typed(PASSCODE)
    app.keys("Return")
    opened(app)
    # Set, after what cannot be one.
    go(app, "Settings")
    app.find("Short, in addition to the passcode, and counted by the security chip")
    check(not app.all("Remove the PIN", "push button"), "there is none to remove")
    app.press("Set the PIN")
    app.find("Set a PIN")
    set_pin(app, "2580", again="2581")
    app.find(part="The two PINs differ.")
    set_pin(app, "1234")
    app.find(part="A PIN has 4 to 64 characters")
    app.shot("46-set-pin")
    set_pin(app, "2580", passcode="wrong")
    app.find(part="That passcode is wrong.")
    set_pin(app, "2580")
    app.find("The PIN was set")
    app.find("Opens the vault on this machine; past the limit only the passcode does")
    app.find("Remove the PIN", "push button")
    app.shot("47-settings-pin")
    # Asked for first, by the keyboard alone; the passcode at its button, and back.
    app.press("Lock now")
    app.find(part="You locked it.")
    app.find("PIN", "password text")
    check(not app.all("Passcode", "password text"), "one thing is typed at a time")
    app.shot("48-locked-pin")
    app.press("Use the Passcode")
    app.find("Passcode", "password text")
    app.press("Use the PIN")
    app.find("PIN", "password text")
    app.typed("2580")
    app.keys("Return")
    opened(app)
    # Wrong ones are told, counted and delayed as passcodes are.
    app.press("Lock now")
    for number, left in enumerate([4, 3, 2]):
        answer_pin(app, f"999{number}")
        app.find(part="That PIN is wrong.")
        app.find(f"{left} attempts left")
    app.find(part="Try again in 0:")
    held(app, app.find("Unlock", "push button"), "no PIN is taken during the delay")
    held(app, app.find("PIN", "password text"), "none can be typed either")
    app.shot("49-pin-delay")
    app.press("Use the Passcode")
    held(app, app.find("Passcode", "password text"), "nor a passcode")
    app.press("Use the Recovery Phrase…")
    app.type("Recovery phrase", phrase)
    app.press("Unlock")
    opened(app)
    go(app, "Log")
    for said in ["A PIN was set", "Opened with the PIN"]:
        app.find(said)
    # Asked for after a start, and taken away with the passcode.
    app.end()
    app = state["app"] = start(LANGUAGE="de")
    app.focus()
    app.find(part="Geben Sie Ihre PIN ein.")
    app.typed("2580")
    app.keys("Return")
    app.find("Noch nichts da")
    go(app, "Einstellungen")
    app.find("Öffnet den Tresor auf diesem Rechner; hinter der Grenze nur noch das Kennwort")
    app.press("PIN entfernen")
    app.find(part="Dann öffnet das Kennwort den Tresor; jetzt nimmt es die PIN weg.")
    app.type("Kennwort", PASSCODE)
    app.press("Entfernen")
    app.find("Geändert")
    app.gone("PIN entfernen", "push button")
    app.keys("ctrl+l")
    app.find("Kennwort", "password text")
    check(not app.all("PIN", "password text"), "no PIN is asked for any more")
    app.end()
    del state["app"]


def change(app, switch, title):
    """Moves a switch whose change the passcode alone proves."""
    app.switch(switch)
    app.find(title)
    app.type("Passcode", PASSCODE)
    app.press("Change")
    app.find("Changed")


def proved(app, question):
    """The owner has proved himself; now the passcode."""
    app.find(question)
    app.type("Passcode", PASSCODE)
    app.press("Change")
    app.find("Changed")


def renewal():
    """A new recovery phrase: the old words work until it is confirmed, and never again."""
    before = set_aside()
    made = Device(os.environ["HOLDFAST_COMMAND"], SCRATCH / "renewal", PASSCODE, unlocks=False)
    app = begin("renewal")
    go(app, "Settings")
    app.find("Opens with a passcode of its own")
    app.find(part="24 words open the vault")
    app.shot("62-protection")
    app.press("New recovery phrase")
    given_up = new_words(app)
    app.press("Cancel")
    app.gone("Vault Recovery Phrase")
    check(f"1. {given_up[1]}" not in app.said(), "words that were given up are gone")
    app.press("New recovery phrase")
    words = new_words(app)
    check(words != given_up, "each time there are other words")
    app.shot("63-new-phrase")
    app.press("I Wrote It Down")
    app.find("New Recovery Phrase")
    app.type("Passcode", "wrong")
    app.press("Replace")
    app.find(part="That passcode is wrong.")
    app.type("Passcode", PASSCODE)
    app.press("Replace")
    app.find(part="The new recovery phrase is now in effect.")
    app.keys("ctrl+l")
    app.find("Holdfast is locked")
    for phrase, is_right in [
        (made.phrase, False), (" ".join(given_up[number] for number in sorted(given_up)), False),
        (" ".join(words[number] for number in sorted(words)), True),
    ]:
        if not app.all("Recovery phrase", "password text"):
            app.press("Use the Recovery Phrase…")
        app.type("Recovery phrase", phrase)
        app.press("Unlock")
        if not is_right:
            app.find(part="These are not the words of this vault.")
            until(lambda: app.find("Unlock", "push button").has(Atspi.StateType.SENSITIVE), "another try", patience=60)
    opened(app)
    app.end()
    del state["app"]
    resume(before)


def ladder():
    """A vault that begins without a passcode, by a security chip; it is given one, and loses it again."""
    if not pathlib.Path("/usr/bin/swtpm").exists():
        print("\n==== THE APP'S LADDER IS NOT TESTED: swtpm is not installed ====\n", flush=True)
        return
    before = set_aside()
    folder = SCRATCH / "ladder"
    folder.mkdir(mode=0o700)
    chip = Chip(folder / "chip")
    try:
        ladder_life(lambda: App(PROGRAM, folder / "home", chip.environment))
    finally:
        chip.end()
    resume(before)


def ladder_life(start):
    app = state["app"] = start()
    opened(app)
    add_value(app)
    app.type("Name", "api token")
    app.type("Value", "sk-live-81c2")
    app.press("Store")
    app.gone("New Item")
    go(app, "Settings")
    app.find("Opens without asking")
    app.find(part="a lost passcode or machine loses everything")
    app.find("Ask whether it is you")
    check(not app.all("Unlock Methods"), "nothing is offered that needs a passcode")
    app.shot("81-without-a-passcode")
    app.end()
    app = state["app"] = start()
    opened(app)
    show(app, "api token")
    go(app, "Settings")
    app.press("Set a passcode")
    app.find("Set a Passcode", "label")
    check(not app.all("Current passcode", "password text"), "there is none to be asked for")
    app.shot("82-first-passcode")
    app.type("New passcode", PASSCODE)
    app.type("Repeat passcode", "correct horse")
    app.press("Set")
    app.find(part="The two passcodes differ.")
    app.type("New passcode", "123456")
    app.type("Repeat passcode", "123456")
    app.find("Use It Anyway")
    app.press("Set")
    # The button acts a moment after it was pressed, on what is in the entries by then: its answer is waited for.
    app.find(part="This passcode is guessed at once.")
    app.type("New passcode", PASSCODE)
    app.type("Repeat passcode", PASSCODE)
    app.press("Set")
    app.find("Opens with a passcode of its own")
    app.find("Unlock Methods")
    app.shot("83-with-a-passcode")
    app.end()
    app = state["app"] = start()
    unlock(app)
    go(app, "Settings")
    app.press("Turn off the passcode")
    app.type("Passcode", "wrong")
    app.press("Turn Off")
    app.find(part="That passcode is wrong.")
    app.find("Opens with a passcode of its own")
    app.press("Turn off the passcode")
    app.type("Passcode", PASSCODE)
    app.press("Turn Off")
    app.find("Opens without asking")
    app.end()
    app = state["app"] = start()
    opened(app)
    show(app, "api token")
    app.end()
    del state["app"]


def new_words(app):
    """The words on the sheet, by their numbers."""
    app.find("Vault Recovery Phrase")

    def whole():
        pairs = [node.name.split(". ") for node in app.each(role="label", part=". ")]
        words = {int(pair[0]): pair[1] for pair in pairs if len(pair) == 2 and pair[0].isdigit()}
        return words if sorted(words) == list(range(1, 25)) else None

    return until(whole, "24 words")


def narrow_and_restart():
    app = state["app"]
    app.resize(380, 640)
    row(app, "notes")
    app.shot("18-narrow")
    app.end()
    check(subprocess.run(["pgrep", "-f", str(SCRATCH / "home")], capture_output=True).stdout == b"", "it ended")
    for name, environment, title in [
        ("19-dark", {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark"}, "Holdfast is locked"),
        ("20-german", {"LANGUAGE": "de"}, "Holdfast ist gesperrt"),
        ("21-spanish", {"LANGUAGE": "es"}, "Holdfast está bloqueado"),
    ]:
        app = App(PROGRAM, SCRATCH / "home", environment)
        state["app"] = app
        app.focus()
        app.find(title)
        for secret in SECRETS:
            check(secret not in app.said(), f"{secret!r} is nowhere at the start")
        app.typed(state["passcode"])
        app.keys("Return")
        row(app, "notes")
        app.shot(name)
        if name == "20-german":
            go(app, "Einstellungen")
            app.find("App-Sperre", "label")
            app.shot("22-german-settings")
        app.end()


def destruction():
    """Self-destruct to its end; takes the whole countdown."""
    if app := state.pop("app", None):
        app.end()
    app = App(PROGRAM, SCRATCH / "home")
    app.focus()
    app.typed(state["passcode"])
    app.keys("Return")
    row(app, "notes")
    go(app, "Settings")
    app.switch("Self-destruct")
    app.type("Passcode", state["passcode"])
    app.press("Continue")
    app.press("Turn On")
    app.find(part="The countdown is over.", patience=60)
    app.type("Passcode", state["passcode"])
    app.press("Continue")
    app.find("Self-destruct is on")
    app.find("Receipt key")
    app.shot("23-self-destruct-on")
    app.press("Lock now")
    for number in range(5):
        until(
            lambda: app.find("Unlock", "push button").has(Atspi.StateType.SENSITIVE),
            "the delay is over", patience=120,
        )
        unlock(app, f"wrong {number}")
        if number < 4:
            app.find(part=f"{4 - number} attempt")
    app.find("This Vault Was Destroyed")
    app.shot("24-destroyed")
    app.end()


def figures():
    """First frame and memory by those of an empty window of libadwaita, in turns, lock to cover and what idling costs:
    medians of seven warm starts. A bound is a ratio; a time stands beside it without one."""
    if app := state.pop("app", None):
        app.end()
    frames, empties, residents, bare, covers, idles = [], [], [], [], [], []
    for _ in range(7):
        empty = App(os.environ["HOLDFAST_EMPTY_WINDOW"], SCRATCH / "empty")
        empties.append(first_frame(empty))
        bare.append(resident(empty))
        empty.end()
        app = App(PROGRAM, SCRATCH / "home")
        frames.append(first_frame(app))
        app.focus()
        app.typed(state["passcode"])
        app.keys("Return")
        app.find("Lock now", "push button")
        residents.append(resident(app))
        before = cpu(app)
        time.sleep(3)
        idles.append((cpu(app) - before) / 3 * 1000)
        app.press("Lock now")
        covers.append(
            until(
                lambda: [int(line.split()[1]) for line in app.trace.read_text().splitlines() if line.startswith("cover")],
                "a cover",
            )[-1]
            / 1000
        )
        app.end()
    frame, empty, most, least, cover, idle = map(
        statistics.median, (frames, empties, residents, bare, covers, idles)
    )
    lines = []
    for name, value, unit, bound, detail in [
        ("desktop-first-frame", frame / empty, "x", FIRST_FRAME, f"{frame:.0f} ms; an empty window {empty:.0f} ms"),
        ("desktop-resident", most / least, "x", RESIDENT, f"{most:.0f} MB, the vault open; an empty window {least:.0f} MB"),
        ("desktop-lock-to-cover", cover, "ms", None, "from the key to the frame on the screen"),
        ("desktop-idle", idle, "ms/s", 10, "of processor, the vault open and nobody there"),
    ]:
        figure = {"name": name, "value": round(value, 3), "unit": unit, "detail": detail}
        if bound is not None:
            figure |= {"bound": bound, "holds": value <= bound}
        lines.append(json.dumps(figure))
        verdict = "" if bound is None else f"<= {bound:<5} {'holds' if value <= bound else 'MISSED'}"
        print(f"{name:24} {value:8.3g} {unit:5} {verdict:16} {detail}")
    (ROOT / "build" / "desktop-bench.json").write_text("[\n  " + ",\n  ".join(lines) + "\n]\n")


# By an empty window of libadwaita.
FIRST_FRAME, RESIDENT = 1.75, 1.5


def first_frame(app):
    """Milliseconds from the start of the process, Cairo."""
    lines = until(lambda: app.trace.exists() and app.trace.read_text().splitlines(), "a first frame")
    return (int(lines[0].split()[1]) - app.started) / 1e6


def resident(app):
    """Megabytes, with what it shares."""
    return int(pathlib.Path(f"/proc/{app.process.pid}/status").read_text().split("VmRSS:")[1].split()[0]) / 1024


def cpu(app):
    fields = pathlib.Path(f"/proc/{app.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def asking():
    prompts.play(PROGRAM, SCRATCH, PASSCODE, check, go)


def beginning():
    before = set_aside()
    beginnings.play(PROGRAM, SCRATCH, PASSCODE, choose, check, state)
    resume(before)


def keeping():
    before = set_aside()
    keepings.play(PROGRAM, SCRATCH, PASSCODE, choose, pick, check)
    resume(before)


SCENARIOS = [
    asking, beginning, first_run, vault, items, editing, listing, appearances, dropping, importing, keeping, pictures, files, locking, settings, log, doctor, verdict, identity, refusals, focus_loss, owner, pin, folder, renewal, ladder,
    narrow_and_restart,
]  # fmt: skip
if os.environ.get("HOLDFAST_SOAK"):
    SCENARIOS.append(destruction)


def main():
    global failed
    state["logind"] = Logind()
    wanted = sys.argv[2:]
    scenarios = [globals()[name] for name in wanted] if wanted else SCENARIOS
    for scenario in scenarios:
        began = time.monotonic()
        try:
            scenario()
        except Exception as error:  # the next ones need what this one leaves
            failed += 1
            print(f"FAIL {scenario.__name__}: {error}")
            traceback.print_exc(file=sys.stdout)
            app = state.get("app")
            if app and app.process.poll() is None:
                try:
                    app.shot("failed")
                except Exception as problem:
                    print(f"no picture: {problem}")
                print(app.said()[:4000])
            elif app:
                said = pathlib.Path(app.log.name).read_text(errors="replace")
                print(f"the app had ended with {app.process.returncode}: {said[-4000:]}")
            break
        print(f"{scenario.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    app = state.get("app")
    if app:
        app.end()
        if failed:
            said = SCRATCH / "home.log"
            print(said.read_text(errors="replace") if said.exists() else "")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
