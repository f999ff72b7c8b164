"""The list of items: what its rows say, its order, several at once, the keyboard, and every width of the window."""

import os

from driver import Atspi, Device, Missing, clipboard, until

KEY = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"


def rows(app):
    """The names in the list, from top to bottom."""
    found = next(app.each("Items", "list"), None)
    try:
        shown = [node for node in found.children if node.name] if found else []
        return [node.name for node in sorted(shown, key=lambda node: node.extents()[1])]
    except Missing:
        # It went while it was looked at.
        return []


def has(app, *names):
    until(lambda: rows(app) == list(names), f"the list is {names}")


def order(app, name):
    app.click(app.find("Order"))
    app.press(name, "radio menu item")


def filled(folder, passcode):
    """A vault with three logins and a note."""
    made = Device(os.environ["HOLDFAST_COMMAND"], folder, passcode)
    made.run("add", "work/Wiki", "-u", "grace", "--otp", "--secret-fd=0", given=f"green hammer\n{KEY}")
    made.run("add", "mail", "-u", "ada@example.org", "--tag", "post", "--secret-fd=0", given="purple hammer")
    made.run("add", "work/servers/Backup", "-u", "root", "--secret-fd=0", given="yellow hammer")
    made.run("add", "Heating", "--kind=note", "--secret-fd=0", given="Bleed the radiators in autumn.")
    made.end()


def orders(app, check):
    has(app, "Backup", "Heating", "mail", "Wiki")
    said = {node.name: node.description for node in app.each(role="list item")}
    check(said["mail"] == "ada@example.org · #post", f"a row says who it is for, and its tags: {said}")
    check(said["Backup"] == "root · work/servers", f"and where it is: {said}")
    app.shot("80-list")
    order(app, "Last Change")
    has(app, "Heating", "Backup", "mail", "Wiki")
    app.click(app.find("Wiki", "list item"))
    app.find("Back", "push button")
    app.resize(1100, 680)
    app.gone("Back", "push button")
    app.shot("80-list-and-item")
    app.resize(780, 680)
    app.press("Back")
    order(app, "Last Use")
    has(app, "Wiki", "Backup", "Heating", "mail")
    order(app, "Name")
    has(app, "Backup", "Heating", "mail", "Wiki")


def keyboard(app):
    """Whoever types searches; Enter copies the password, Ctrl+U the user, Ctrl+T the code."""
    app.focus()
    app.keys("Tab")
    app.typed("grace")
    has(app, "Wiki")
    app.keys("ctrl+u")
    until(lambda: clipboard() == "grace", "the user of what was found")
    app.keys("ctrl+t")
    until(lambda: clipboard().isdigit() and len(clipboard()) == 6, "its code")
    app.keys("Escape")
    app.find("Search names, users and tags").put("adA@")
    has(app, "mail")
    app.keys("ctrl+f", "Return")
    until(lambda: clipboard() == "purple hammer", "its password")
    app.keys("Escape")
    app.type("Search names, users and tags", "")
    has(app, "Backup", "Heating", "mail", "Wiki")


def choose_several(app):
    app.press("Select several")
    app.find("0 selected")


def several(app, check):
    """Moved, tagged, thrown away, and each taken back."""
    choose_several(app)
    for name in ("mail", "Wiki"):
        app.click(app.find(name, "list item"))
    app.find("2 selected")
    app.shot("81-selection")
    app.press("Move the selected")
    app.find("Move to a Folder")
    app.type("Folder, empty for none", "a//b")
    app.press("Move")
    app.gone("Move to a Folder")
    app.find("2 selected")
    check(rows(app) == ["Backup", "Heating", "mail", "Wiki"], "what is no folder moves nothing")
    app.press("Move the selected")
    app.type("Folder, empty for none", "home")
    app.press("Move")
    app.find("2 items moved")
    app.find("home, 2 items", "list item")
    app.click(app.find("Undo", "label"))
    app.gone("home, 2 items", "list item")
    choose_several(app)
    for name in ("mail", "Backup"):
        app.click(app.find(name, "list item"))
    app.find("2 selected")
    app.press("Tag the selected")
    app.type("Tags, with commas between", "post, new")
    app.press("Add")
    app.find("2 items tagged")
    app.find("#new, 2 items", "list item")
    app.click(app.find("Undo", "label"))
    app.gone("#new, 2 items", "list item")
    app.find("#post, 1 item", "list item")
    choose_several(app)
    for name in ("mail", "Backup", "Wiki"):
        app.click(app.find(name, "list item"))
    app.find("3 selected")
    app.press("Delete the selected")
    app.find("3 items deleted")
    has(app, "Heating")
    app.click(app.find("Undo", "label"))
    has(app, "Backup", "Heating", "mail", "Wiki")


# On both sides of each border, and the ends.
WIDTHS = [1290, 930, 900, 780, 650, 620, 570, 540, 420, 380, 360]
if os.environ.get("HOLDFAST_DESKTOP", "short") == "short":
    WIDTHS = [1290, 780, 540, 360]


def signature(app, width, check):
    """What is on the screen, and where; all of it inside of the window."""
    app.resize(width, 680)

    def look():
        seen = []
        for node in app.look().walk():
            if node.role in ("push button", "entry", "list", "list item", "page tab") and node.name:
                try:
                    left, top, wide, high = node.extents()
                except Missing:
                    continue
                if wide > 1 and high > 1 and node.has(Atspi.StateType.VISIBLE):
                    seen.append((node.role, node.name, left, top, wide, high))
        return sorted(seen)

    last = [None]

    def settled():
        before, last[0] = last[0], look()
        return before == last[0] and any(seen[1] == "Search names, users and tags" or seen[1] == "Back" for seen in before)

    until(settled, f"the window settles at {width}")
    outside = [seen for seen in last[0] if seen[2] < 0 or seen[2] + seen[4] > width + 40]
    check(not outside, f"all is inside of the window at {width}: {outside}")
    return last[0]


def widths(app, check):
    """Each width looks the same in one step and slowly, with and without an open item."""
    for name in (None, "mail"):
        app.resize(1290, 680)
        if name:
            app.click(app.find(name, "list item"))
            app.find("Add to the favourites", "push button")
        slowly = {}
        for width in WIDTHS:
            slowly[width] = signature(app, width, check)
            for between in range(width - 1, width - 9, -3):
                if between >= 360:
                    app.resize(between, 680)
        app.shot(f"82-narrow-{name}")
        for width in reversed(WIDTHS):
            app.resize(360, 680)
            check(signature(app, width, check) == slowly[width], f"{width} looks the same in one step")
        app.shot(f"83-wide-{name}")


def locked_over_a_menu(app):
    """A menu keeps the keyboard to itself, but not the keys that lock."""
    app.resize(1290, 680)
    app.focus()
    app.click(app.find("Order"))
    app.find("Last Use", "radio menu item")
    app.keys("ctrl+l")
    app.find("Holdfast is locked")
    app.gone("Last Use", "radio menu item")


def play(app, check):
    orders(app, check)
    keyboard(app)
    several(app, check)
    widths(app, check)
    locked_over_a_menu(app)
