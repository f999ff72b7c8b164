#!/usr/bin/env python3
"""Writes the bill of materials of the packages for one Debian (SPDX 2.3, JSON): what they contain and link.

    bill_of_materials.py FOLDER     of scripts/packages, with its .deb and .buildinfo

Libraries are those that the packages depend on, in the versions that they were built with (.buildinfo); licenses stand in
Docs/architecture.md. Times are those of SOURCE_DATE_EPOCH, else of the commit, so that the same packages give the same bytes.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What Docs/architecture.md calls a license, as SPDX expressions.
SPDX = {
    "Apache-2.0": "Apache-2.0",
    "CC0-1.0 or Apache-2.0": "CC0-1.0 OR Apache-2.0",
    "ISC": "ISC",
    "OLDAP-2.8": "OLDAP-2.8",
    "BSD-2-Clause": "BSD-2-Clause",
    "BSD-3-Clause": "BSD-3-Clause",
    "LGPL-2.1+": "LGPL-2.1-or-later",
    "BSD-3-Clause or GPL-2+": "BSD-3-Clause OR GPL-2.0-or-later",
    "Zlib": "Zlib",
    "curl": "curl",
    "public domain": "blessing",
    "PostgreSQL": "PostgreSQL",
    "libpng-2.0": "libpng-2.0",
    "IJG and BSD-3-Clause": "IJG AND BSD-3-Clause",
    "Apache-2.0 with the Runtime Library Exception": "Apache-2.0 WITH Swift-exception",
}

# What is linked beside the libraries of the table: siblings of tpm2-tss, the C library and the compiler's own.
BESIDE = {
    "libtss2-": "BSD-2-Clause",
    "libc6": "LGPL-2.1-or-later",
    "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
}


def field(package, name):
    return subprocess.run(["dpkg-deb", "-f", package, name], check=True, capture_output=True, text=True).stdout.strip()


def licenses():
    """The license of each Debian package of the table."""
    found = dict(BESIDE)
    for line in (ROOT / "Docs/architecture.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[2] in SPDX:
            for name in re.findall(r"lib[a-z0-9.+-]+|zlib1g", cells[1]):
                found[name] = SPDX[cells[2]]
    return found


def license_of(name, table):
    return next((table[known] for known in table if name.startswith(known)), "NOASSERTION")


def built_with(folder):
    """The version of each Debian package that was there when the packages were built."""
    (file,) = folder.glob("*.buildinfo")
    return dict(re.findall(r"^ ([a-z0-9.+-]+)(?::\w+)? \(= ([^)]+)\),?$", file.read_text(encoding="utf-8"), re.MULTILINE))


def moment_of_commit():
    command = ["git", "-C", ROOT, "log", "-1", "--format=%ct"]
    return os.environ.get("SOURCE_DATE_EPOCH") or subprocess.run(command, check=True, capture_output=True, text=True).stdout


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name.replace("+", "plus"))


def main():
    if len(sys.argv) != 2 or not any(pathlib.Path(sys.argv[1]).glob("*.deb")):
        sys.exit(__doc__)
    folder, table = pathlib.Path(sys.argv[1]), licenses()
    versions = built_with(folder)
    moment = datetime.datetime.fromtimestamp(int(moment_of_commit()), datetime.timezone.utc)
    packages, relations, linked = [], [], {}
    version = ""
    for path in sorted(folder.glob("*.deb")):
        name, version = field(path, "Package"), field(path, "Version")
        own = identifier(name)
        packages.append({
            "SPDXID": own, "name": name, "versionInfo": version, "packageFileName": path.name,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseDeclared": "Apache-2.0", "licenseConcluded": "Apache-2.0", "copyrightText": "The Holdfast authors",
            "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(path.read_bytes()).hexdigest()}],
        })
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", own))
        if field(path, "Architecture") != "all":
            relations.append((own, "STATIC_LINK", "SPDXRef-swift"))
        # What is recommended is loaded on first use, where it is installed.
        for kind, relation in [("Depends", "DYNAMIC_LINK"), ("Recommends", "OPTIONAL_DEPENDENCY_OF")]:
            for dependency in re.split(r",\s*", field(path, kind)):
                library = re.split(r"[ |:(]", dependency)[0]
                if library == "zlib1g" or library.startswith("lib") and not library.startswith("libpam-"):
                    linked.setdefault(library, []).append((own, relation))
    for library in sorted(linked):
        # Some of Debian 13's have another name and provide the one without it.
        actual = library + "t64" if library + "t64" in versions else library
        shown = versions.get(actual)
        if not shown and any(relation == "DYNAMIC_LINK" for _, relation in linked[library]):
            sys.exit(f"bill_of_materials.py: {folder} was not built with {library}, which it depends on")
        packages.append({
            "SPDXID": identifier(library), "name": library, **({"versionInfo": shown} if shown else {}),
            "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseDeclared": license_of(library, table), "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION",
            "externalRefs": [{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:deb/debian/{actual}" + (f"@{urllib.parse.quote(shown)}" if shown else ""),
            }],
        })
        for own, relation in linked[library]:
            ends = (own, relation, identifier(library))
            relations.append(ends if relation == "DYNAMIC_LINK" else ends[::-1])
    packages.append({
        "SPDXID": "SPDXRef-swift", "name": "swift", "versionInfo": (folder / "SWIFT").read_text(encoding="utf-8").strip(),
        "downloadLocation": "https://www.swift.org/download/", "filesAnalyzed": False,
        "licenseDeclared": "Apache-2.0 WITH Swift-exception", "licenseConcluded": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    })
    text = json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"holdfast-{version}",
        "documentNamespace": f"urn:holdfast:{version}:" + hashlib.sha256(
            json.dumps(packages, sort_keys=True).encode()).hexdigest(),
        "creationInfo": {"created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Organization: The Holdfast authors"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }, indent=1)
    print(text)


main()
