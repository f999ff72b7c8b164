"""Pages from Markdown for scripts/site: one folder of HTML, CSS and one script, all of it from here."""

import html
import itertools
import json
import pathlib
import re
import shutil

import markdown

USERS = [
    ("Docs/site/app.md", "I build an app"),
    ("Docs/site/linux.md", "On Linux"),
    ("Docs/site/server.md", "The server"),
    ("Docs/site/hole.md", "Find the hole"),
]
DOCUMENTS = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "packaging/README.md"]
EXTENSIONS = ["tables", "fenced_code", "toc", "sane_lists", "attr_list", "codehilite"]
CONFIGURATION = {"codehilite": {"guess_lang": False, "css_class": "code"}}
# Everything comes from the same place; nothing is asked of anybody else.
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'"
TUTORIAL = re.compile(r'@Code\(name: "([^"]+)", file: "?([\w.-]+)"?\)')
WORD = re.compile(r"[\w][\w.-]*[\w]|\w")


def slug(value, separator="-"):
    """The anchors that links between documents name, as scripts/check_documents.py makes them."""
    return re.sub(r"[^\w\- ]", "", value.lower()).replace(" ", separator)


class Site:
    def __init__(self, root, out):
        self.root, self.out = root, out
        self.waiting, self.done, self.sections, self.titles = [], {}, [], {}

    def address(self, source):
        """Where a file of the repository is on the site."""
        name = source.relative_to(self.root).as_posix()
        if name == "README.md":
            return "index.html"
        if source.suffix == ".png" or source.suffix == ".svg":
            return name
        if source.is_dir():
            return name + "/index.html"
        if source.suffix == ".md":
            return re.sub(r"\.md$", ".html", re.sub(r"README\.md$", "index.md", name))
        return name + ".html"

    def want(self, source):
        if source not in self.done:
            self.done[source] = self.address(source)
            self.waiting.append(source)
        return self.done[source]

    def build(self):
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        for name in DOCUMENTS + [page for page, _ in USERS]:
            self.want(self.root / name)
        for pattern in ["Docs/*.md", "Docs/programs/*.md", "Docs/decisions/*.md", "Docs/Holdfast.docc/*.tutorial", "Docs/recordings/*.txt"]:
            for file in sorted(self.root.glob(pattern)):
                self.want(file)
        while self.waiting:
            self.page(self.waiting.pop(0))
        self.documents()
        self.search()
        for asset in sorted((self.root / "Docs/site").glob("*.*")):
            if asset.suffix in (".css", ".js", ".svg"):
                shutil.copy(asset, self.out / asset.name)

    def page(self, source):
        place = self.out / self.done[source]
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix in (".png", ".svg"):
            shutil.copy(source, place)
        elif source.is_dir():
            self.folder(source)
        elif source.suffix == ".md":
            self.text(source, source.read_text(encoding="utf-8"))
        elif source.suffix == ".tutorial":
            self.text(source, self.tutorial(source))
        else:
            name = source.relative_to(self.root).as_posix()
            body = html.escape(source.read_text(encoding="utf-8"))
            self.write(source, source.name, f'<h1>{html.escape(name)}</h1><pre tabindex="0">{body}</pre>')

    def tutorial(self, source):
        """The words of a tutorial, with its code in place."""
        lines = []
        for line in source.read_text(encoding="utf-8").splitlines():
            line = line.strip()
            if title := re.match(r'@Intro\(title: "(.*)"\)', line):
                lines += [f"# {title[1]}", ""]
            elif title := re.match(r'@(?:Section|Chapter)\((?:title|name): "(.*)"\)', line):
                lines += ["", f"## {title[1]}", ""]
            elif code := TUTORIAL.match(line):
                file = next((self.root / "Docs/Holdfast.docc").rglob(code[2]))
                lines += ["", "```swift", file.read_text(encoding="utf-8").rstrip(), "```", ""]
            elif picture := re.match(r'@Image\(source: "?([\w.-]+)"?, alt: "(.*)"\)', line):
                found = list((self.root / "Docs/Holdfast.docc/Resources").glob(picture[1] + "*"))
                if found:
                    lines += ["", f"![{picture[2]}](Resources/{found[0].name})", ""]
            elif tutorial := re.match(r'@TutorialReference\(tutorial: "doc:(\w+)"\)', line):
                lines += ["", f"* [{tutorial[1]}]({tutorial[1]}.tutorial)"]
            elif line.startswith("@") or line == "}":
                lines.append("")
            else:
                lines.append(re.sub(r"``([^`]+)``", lambda name: f"`{name[1]}`", line))
        return "\n".join(lines) + "\n"

    def folder(self, source):
        items = []
        for file in sorted(path for path in source.rglob("*") if path.is_file()):
            target = self.relative(source, self.want(file))
            items.append(f'<li><a href="{target}">{html.escape(file.relative_to(source).as_posix())}</a></li>')
        name = source.relative_to(self.root).as_posix()
        self.write(source, name, f"<h1>{html.escape(name)}</h1><ul>{''.join(items)}</ul>")

    def text(self, source, text):
        # What the tests of the snippets read, nobody else does.
        text = re.sub(r"<!-- snippet.*?-->\n", "", text, flags=re.DOTALL)
        converter = markdown.Markdown(
            extensions=EXTENSIONS, extension_configs={**CONFIGURATION, "toc": {"slugify": slug, "toc_depth": "2-3"}}
        )
        body = converter.convert(text)
        # A reader of the site knows titles, not files.
        body = re.sub(
            r'<a href="([^"]+)">[\w./-]+\.md</a>', lambda match: f'<a href="{match[1]}">{self.named(source, match[1])}</a>', body
        )
        body = re.sub(r'(href|src)="([^"]+)"', lambda match: f'{match[1]}="{self.follow(source, match[2])}"', body)
        # A wide table scrolls by itself; the keyboard has to reach it.
        count = itertools.count(1)
        body = re.sub(
            "<table>", lambda _: f'<div class="wide" tabindex="0" role="region" aria-label="Table {next(count)}"><table>', body
        )
        body = body.replace("</table>", "</table></div>").replace("<th></th>", "<td></td>")
        body = re.sub(r"<pre(?: [^>]*)?>", '<pre tabindex="0">', body)
        title = re.search(r"<h1[^>]*>(.*?)</h1>", body)
        title = re.sub(r"<[^>]+>", "", title[1]) if title else source.stem
        self.index(source, title, body)
        headings = sum(1 for _ in re.finditer(r"<h2", body))
        if headings > 3:
            contents = f'<details class="contents"><summary>On this page</summary>{converter.toc}</details>'
            body = re.sub(r"(</h1>)", lambda match: match[1] + contents, body, count=1)
        if source == self.root / "README.md":
            cards = "".join(
                f'<li><a href="{self.done[self.root / page]}">{html.escape(self.heading(page))}</a></li>' for page, _ in USERS
            )
            body = re.sub(r"(</h1>)", lambda match: match[1] + f'<ul class="cards">{cards}</ul>', body, count=1)
        self.write(source, title, body)

    def named(self, source, target):
        """The title of the page that a link leads to."""
        path, _, anchor = html.unescape(target).partition("#")
        file = (source.parent / path).resolve()
        if file.suffix != ".md" or not file.exists():
            return html.escape(path.rpartition("/")[2] or anchor)
        return markdown.markdown(self.heading(file)).removeprefix("<p>").removesuffix("</p>")

    def heading(self, page):
        return (self.root / page).read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")

    def follow(self, source, target):
        """A link between files of the repository as one between pages."""
        target = html.unescape(target)
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return html.escape(target)
        path, mark, anchor = target.partition("#")
        file = (source.parent / path).resolve()
        if not file.exists():
            raise SystemExit(f"site: {source.relative_to(self.root)} links to {target}, which is not there")
        return html.escape(self.relative(source, self.want(file)) + mark + anchor)

    def relative(self, source, address):
        depth = self.done[source].count("/")
        return "../" * depth + address

    def index(self, source, title, body):
        parts = re.split(r'<h[23] id="([^"]+)">(.*?)</h[23]>', body)
        name = self.done[source]
        self.sections.append((title, name, title + " " + re.sub(r"<[^>]+>", " ", parts[0])))
        for anchor, heading, text in zip(parts[1::3], parts[2::3], parts[3::3]):
            heading = html.unescape(re.sub(r"<[^>]+>", "", heading))
            self.sections.append((f"{title}: {heading}", f"{name}#{anchor}", heading + " " + re.sub(r"<[^>]+>", " ", text)))

    def write(self, source, title, body):
        self.titles[self.done[source]] = title
        place = self.out / self.done[source]
        place.parent.mkdir(parents=True, exist_ok=True)
        base = "../" * self.done[source].count("/")
        own = self.done[source]

        def entry(address, words):
            here = ' aria-current="page"' if address == own else ""
            return f'<li><a href="{base}{address}"{here}>{words}</a></li>'

        users = "".join(entry(self.done[self.root / page], words) for page, words in USERS)
        place.write_text(
            f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{html.escape(html.unescape(title))}{"" if title == "Holdfast" else " – Holdfast"}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{base}style.css">
<script src="{base}search.js" data-base="{base}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<nav aria-label="Main"><a class="home" href="{base}index.html">Holdfast</a>
<ul>{users}{entry("documents.html", "Documents")}</ul></nav>
<form role="search" action="{base}documents.html"><label for="search">Search</label>
<input id="search" name="q" type="search" autocomplete="off" aria-controls="found"></form>
<div id="found" hidden></div>
</header>
<main id="content" tabindex="-1">
{body}
</main>
<footer><p>Holdfast, Apache-2.0. <a href="{base}SECURITY.html">Report a hole</a>.</p></footer>
</body>
</html>
""",
            encoding="utf-8",
        )

    def documents(self):
        """Every page, by kind."""
        kinds = {"Documents": [], "Tutorials": [], "Recordings": [], "Decisions": []}
        for address, title in self.titles.items():
            if address.startswith("Docs/decisions/"):
                kinds["Decisions"].append((address, title))
            elif ".tutorial" in address:
                kinds["Tutorials"].append((address, title))
            elif address.startswith("Docs/recordings/"):
                kinds["Recordings"].append((address, title))
            elif address.endswith(".html") and (address.startswith("Docs/") or "/" not in address) and address.count(".") == 1:
                if not address.startswith("Docs/site/"):
                    kinds["Documents"].append((address, title))
        parts = ["<h1>Documents</h1>"]
        for kind, pages in kinds.items():
            if pages:
                items = "".join(f'<li><a href="{address}">{title}</a></li>' for address, title in sorted(pages, key=lambda page: page[1]))
                parts.append(f'<h2 id="{slug(kind)}">{kind}</h2><ul class="columns">{items}</ul>')
        source = self.root / "documents"
        self.done[source] = "documents.html"
        self.write(source, "Documents", "\n".join(parts))

    def search(self):
        """Which sections have a word, as a script: a page that is opened from a disk may load that, and nothing else."""
        words = {}
        for number, (title, _, text) in enumerate(self.sections):
            titled = {word.lower() for word in WORD.findall(title)}
            for word in {word.lower() for word in WORD.findall(html.unescape(text))} | titled:
                if len(word) > 1:
                    words.setdefault(word, []).append(-number - 1 if word in titled else number)
        sections = [[html.unescape(title), address] for title, address, _ in self.sections]
        index = json.dumps({"sections": sections, "words": words}, ensure_ascii=False, separators=(",", ":"))
        (self.out / "search-index.js").write_text(f"window.searchIndex = {index};\n", encoding="utf-8")
