"""What scripts/check-layout checks about documents: that a citation names a section that exists, that links between
documents lead somewhere, that decisions have one form and their own numbers, and that the files that the map names are
there."""

import re

# Texts that cite documents. Everything below these, and these files.
CITING = ["Sources", "Tests", "Apps", "Benchmarks", "Fuzz", "Examples", "scripts", "Support", "Docs", ".github"]
CITING_FILES = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "Package.swift", "Makefile"]
TEXTS = {".swift", ".c", ".h", ".py", ".sh", ".md", ".json", ".yml", ".po", ""}
# They hold what this file must see.
NOT_CITING = {"scripts/check_documents.py", "scripts/test-check-layout"}

NUMBER = r"\d+(?:\.\d+)*"
NUMBERS = rf"{NUMBER}(?:(?:,| and| to|, and| or) {NUMBER}(?![\w%]))*"

# `protocol.md 4.2`, `Docs/vault-format.md 3`, `decisions/vault.md 7`, `[server.md](server.md) 2 and 3`.
CITATION = re.compile(rf"([\w./-]*[\w-]+\.md)`?\)? ({NUMBERS})(?![\w%])")
# Numbers of sections without a document of ours in front.
BARE = re.compile(rf"(\b(?i:sections?|constructions?)|\bDESIGN(?:\.md)?|§)[ ,]*({NUMBERS})")
# Texts of others, which are cited by their own sections.
STANDARDS = re.compile(
    r"(?:RFC \d+|FIPS [\d-]+|SP 800-\d+\w*|SEC \d|BLAKE3 paper|TPM 2\.0 Library, part \d|Unicode \S+|POSIX\S*),?"
    r"(?: and| the)? $"
)
# A text without any of these cites nothing.
HINTS = [".md", "ection", "onstruction", "ECTION", "ONSTRUCTION", "DESIGN", "§"]
HEADING = re.compile(r"(#+) (.*)")
NUMBERED = re.compile(rf"({NUMBER})\.? ")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# Decisions by number alone; `decisions/vault.md 9` is a citation of a section.
DECISION_NUMBERS = re.compile(r"\b[Dd]ecisions? (\d+(?:(?:,| and|, and| or) \d+)*)\b")
# One spelling.
SPELLING = re.compile(r"\benrolment", re.I)
CODE = re.compile(r"(`+).*?\1")


class Documents:
    """The documents of one package, each read once."""

    def __init__(self, root):
        self.root = root
        self.read = {}

    def lines(self, path):
        """Number and text of the lines that are not inside a fence."""
        inside = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.lstrip().startswith("```"):
                inside = not inside
            elif not inside:
                yield number, line

    def headings(self, path):
        """The numbers of a document's sections and the anchors that links can name."""
        if path not in self.read:
            numbers, anchors = set(), set()
            for _, line in self.lines(path):
                if heading := HEADING.match(line):
                    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(2).strip())
                    if number := NUMBERED.match(text):
                        numbers.add(number.group(1))
                    plain = anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
                    count = 0
                    while anchor in anchors:
                        count += 1
                        anchor = f"{plain}-{count}"
                    anchors.add(anchor)
            self.read[path] = numbers, anchors
        return self.read[path]

    def named(self, name, place):
        """The document that a citation names: from the root, from Docs, or from beside the text that cites."""
        for base in (self.root, self.root / "Docs", (self.root / place).parent):
            path = base / name
            if path.is_file():
                return path.resolve()
        return None


def numbers(text):
    return re.findall(NUMBER, text)


def texts(root):
    for top in CITING:
        for file in sorted((root / top).rglob("*")):
            parts = file.relative_to(root).parts[1:]
            if file.suffix in TEXTS and file.is_file() and not any(part.startswith(".") for part in parts):
                yield file
    for name in CITING_FILES:
        if (root / name).is_file():
            yield root / name


def citations(root, documents):
    for file in texts(root):
        place = file.relative_to(root).as_posix()
        if place in NOT_CITING:
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if SPELLING.search(text):
            for number, line in enumerate(text.splitlines(), 1):
                if found := SPELLING.search(line):
                    yield place, number, f"'{found.group()}' is written enrollment here"
        if not any(word in text for word in HINTS):
            continue
        own = documents.headings(file)[0] if place.startswith("Docs/") and file.suffix == ".md" else set()
        for number, line in enumerate(text.splitlines(), 1):
            for name, sections in CITATION.findall(line) if ".md" in line else []:
                document = documents.named(name, place)
                if document is None:
                    yield place, number, f"there is no document {name}"
                    continue
                for section in numbers(sections):
                    if section not in documents.headings(document)[0]:
                        yield place, number, f"{name} has no section {section}"
            for bare in BARE.finditer(line) if any(word in line for word in HINTS[1:]) else []:
                if STANDARDS.search(line[: bare.start()]):
                    continue
                if own and bare.group(1).lower().startswith("section"):
                    for section in numbers(bare.group(2)):
                        if section not in own:
                            yield place, number, f"this document has no section {section}"
                else:
                    yield place, number, (
                        f"'{bare.group()}' of what? Cite a document (protocol.md 4.2) or a standard (RFC 9106, section 3.1)"
                    )


def links(root, documents):
    for file in texts(root):
        if file.suffix != ".md":
            continue
        place = file.relative_to(root).as_posix()
        for number, line in documents.lines(file):
            for target in LINK.findall(CODE.sub("", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                found = (file.parent / path).resolve() if path else file.resolve()
                if not found.exists():
                    yield place, number, f"the link {target} leads nowhere"
                elif anchor and found.suffix == ".md" and anchor not in documents.headings(found)[1]:
                    yield place, number, f"the link {target} names no heading of that document"


DECISION = re.compile(r"## (\d+)\. (.*)")
DATE = re.compile(r"\*(\d{4}-\d{2}-\d{2})\*")
PARTS = ["- **What**: ", "- **Why**: ", "- **Refused**: "]


class Decision:
    """One decision, as its file has it: where it is, its area, number, title, date ("" without one) and list items."""

    def __init__(self, place, line, area, found, body):
        self.place, self.line, self.area = place, line, area
        self.number, self.title = int(found[1]), found[2]
        date = DATE.fullmatch(body[1]) if len(body) > 1 else None
        self.date = date[1] if date else ""
        self.items = [line for line in body if line.startswith("- ")]


def read_decisions(root):
    """All decisions, file by file."""
    for file in sorted((root / "Docs/decisions").glob("*.md")):
        lines = file.read_text(encoding="utf-8").splitlines()
        area = lines[0].removeprefix("# Decisions: ") if lines else ""
        starts = [(at, found) for at, line in enumerate(lines) if (found := DECISION.match(line))]
        for (at, found), end in zip(starts, [at for at, _ in starts[1:]] + [len(lines)]):
            yield Decision(file.relative_to(root).as_posix(), at + 1, area, found, lines[at + 1 : end])


def decisions(root):
    """One form, numbers that stand once, and a row for each area in the table of areas."""
    folder = root / "Docs/decisions"
    if not folder.is_dir():
        return
    seen = {}
    for decision in read_decisions(root):
        at = decision.place, decision.line
        if decision.number in seen:
            yield *at, f"the number {decision.number} is taken, in {seen[decision.number]}"
            continue
        seen[decision.number] = decision.place
        if not decision.date:
            yield *at, f"decision {decision.number} has no date below its title"
        if len(decision.items) != len(PARTS) or not all(map(str.startswith, decision.items, PARTS)):
            yield *at, f"decision {decision.number} is not three lines: {', '.join(part[2:-2] for part in PARTS)}"
    table = read(root, "Docs/decisions/README.md")
    for file in sorted(folder.glob("*.md")):
        if file.name != "README.md" and f"({file.name})" not in table:
            yield file.relative_to(root).as_posix(), 1, "Docs/decisions/README.md has no row for this area"
    for file in texts(root):
        place = file.relative_to(root).as_posix()
        if place in NOT_CITING or file.suffix not in {".md", ".swift"}:
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for cited in DECISION_NUMBERS.findall(line):
                for name in numbers(cited):
                    if int(name) not in seen:
                        yield place, number, f"there is no decision {name}"
    for file in sorted((root / "Docs").glob("*.md")):
        if "decisions/" not in file.read_text(encoding="utf-8"):
            yield file.relative_to(root).as_posix(), 1, "no link to the decisions behind it (Docs/decisions)"


# Documents that name files. A path is written in full, or as the name of a Swift file that only one folder has.
MAPS = ["Docs/architecture.md", "CONTRIBUTING.md"]
TOPS = "Sources|Tests|Apps|Benchmarks|Fuzz|Examples|Support|Docs|scripts|\\.github"
PATH = re.compile(rf"`((?:{TOPS})(?:/[\w.+*-]+)*/?|[\w+]+\.swift)`")


def swift_files(root):
    found = {}
    for top in ("Sources", "Tests", "Apps", "Examples"):
        for file in (root / top).rglob("*.swift"):
            if not any(part.startswith(".") for part in file.relative_to(root).parts):
                found.setdefault(file.name, []).append(file.relative_to(root).as_posix())
    return found


def is_there(root, path, files):
    return path in files or any(root.glob(path.rstrip("/")))


def paths(root):
    files = swift_files(root)
    for place in MAPS:
        if not (root / place).is_file():
            continue
        for number, line in enumerate((root / place).read_text(encoding="utf-8").splitlines(), 1):
            for path in PATH.findall(line):
                if "/" not in path and len(files.get(path, [])) > 1 and not (root / path).is_file():
                    yield place, number, f"there are several {path}: {', '.join(files[path])}"
                elif not is_there(root, path, files):
                    elsewhere = files.get(path.rpartition("/")[2], [])
                    hint = f"; it is {elsewhere[0]}: scripts/check-layout --follow-moves" if len(elsewhere) == 1 else ""
                    yield place, number, f"there is no {path}{hint}"
    owners = root / ".github/CODEOWNERS"
    if owners.is_file():
        for number, line in enumerate(owners.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("/") and not (root / line.split()[0].strip("/")).exists():
                yield ".github/CODEOWNERS", number, f"there is no {line.split()[0]}"


def follow_moves(root):
    """Writes the present paths of files that were moved into the maps."""
    files = swift_files(root)
    for place in MAPS:
        if not (root / place).is_file():
            continue
        text = (root / place).read_text(encoding="utf-8")

        def follow(match):
            elsewhere = files.get(match.group(1).rpartition("/")[2], [])
            moved = not is_there(root, match.group(1), files) and len(elsewhere) == 1
            return f"`{elsewhere[0]}`" if moved else match.group()

        (root / place).write_text(PATH.sub(follow, text), encoding="utf-8")


# The version stands in Sources/HoldfastCommand/Version.swift. What other tools read repeats it, and has to follow.
VERSION_SOURCE = "Sources/HoldfastCommand/Version.swift"
VERSION_COPIES = {
    "Sources/HoldfastServer/ServerEntry.swift": r'static let version = "(.+)"',
    "Apps/Linux/Sources/HoldfastDesktop/Place.swift": r'static let text = "(.+)"',
    "Apps/Linux/data/org.holdfast.Holdfast.metainfo.xml": r'<release version="([^"]+)"',
    "debian/changelog": r"^holdfast \((.+)\) ",
    "README.md": r"holdfast_(\d[\w.~-]*)\+deb12_amd64\.deb",
    "Docs/server.md": r"holdfast-server_(\d[\w.~-]*)\+deb12_amd64\.deb",
    "Docs/kubernetes/server.yaml": r"image: holdfast-server:(.+)",
    "packaging/arch/PKGBUILD": r"^pkgver=(.+)",
    "packaging/nix/package.nix": r'^  version = "(.+)";',
    "packaging/homebrew/holdfast.rb": r"/v(\d[\w.~-]*)\.tar\.gz",
    "packaging/flatpak/org.holdfast.Holdfast.yml": r"tag: v(\d[\w.~-]*)$",
}


def versions(root):
    """The first mention in each file is the present version. A file without one is said: a check that finds nothing to check
    would hold whatever stands elsewhere."""
    stated = re.search(r'static let text = "(.+)"', read(root, VERSION_SOURCE))
    if not stated:
        return
    for path, pattern in VERSION_COPIES.items():
        for number, line in enumerate(read(root, path).splitlines(), 1):
            if found := re.search(pattern, line):
                if found[1] != stated[1]:
                    yield path, number, f"version {found[1]}; {VERSION_SOURCE} says {stated[1]}"
                break
        else:
            yield path, 1, "no version stands here, and scripts/check_documents.py looks for one"


# Each release has a folder of what it has written, which every later one must read (Docs/architecture.md 7).
FIXTURES = "Tests/Fixtures"
RELEASED = re.compile(r"## \[(\d+\.\d+\.\d+)\]")


def fixtures(root):
    for number, line in enumerate(read(root, "CHANGELOG.md").splitlines(), 1):
        if (found := RELEASED.match(line)) and not (root / FIXTURES / found[1]).is_dir():
            yield "CHANGELOG.md", number, f"{found[1]} has no {FIXTURES}/{found[1]}: scripts/make-fixtures makes it"


# Each control of MASVS has a test, or the reason why it has none: a table of claims without evidence is none.
MASVS = "Docs/masvs.md"


def controls(root):
    columns = []
    for number, line in enumerate(read(root, MASVS).splitlines(), 1):
        if not line.startswith("|"):
            columns = []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not columns:
            columns = cells
        elif cells[0].startswith("MASVS-"):
            for column, cell in zip(columns, cells):
                if not cell:
                    yield MASVS, number, f"{cells[0].partition(':')[0]} says nothing under {column}"


def read(root, path):
    file = root / path
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def violations(root):
    yield from versions(root)
    yield from fixtures(root)
    yield from controls(root)
    root = root.resolve()
    documents = Documents(root)
    yield from citations(root, documents)
    yield from links(root, documents)
    yield from decisions(root)
    yield from paths(root)
