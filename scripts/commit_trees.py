"""Commits of this repository beside each other, each in a folder of its own with what is built of it. They stay for the next
time."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACE = ROOT / "build/bench-compare"


def commit(revision):
    """The short name of a revision's commit; None for what is none."""
    found = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--verify", "--quiet", revision + "^{commit}"], capture_output=True, text=True
    )
    return found.stdout.strip()[:12] if found.returncode == 0 else None


def tree(commit):
    """The folder with a commit's files."""
    place = PLACE / commit
    if not place.exists():
        PLACE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "-C", ROOT, "worktree", "prune"], check=True)
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", place, commit], check=True)
    return place


def build(tree, product, *options, output=None, environment=None):
    """Builds one product of a commit, by the commit's own scripts."""
    command = [tree / "scripts/with-swift", "swift", "build", *options, "--product", product]
    subprocess.run(command, cwd=tree, check=True, stdout=output, env=environment)
