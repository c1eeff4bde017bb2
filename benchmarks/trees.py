"""Versions of the project side by side: each commit in a folder of its own, a Git worktree below `.trees/`.

The folders stay, and with them the kernels that were compiled there: the next comparison with the same commit starts at
once. All versions run in the same virtual environment, each with its own sources first on Python's path, and see the
same data. `make clean` removes the folders.
"""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class NotThere(Exception):
    """A commit, or a data set, that is wanted and not there."""


def tree_of(commit: str | None, root: Path = ROOT) -> Path:
    """The folder of a commit; that of the project as it is now for None."""
    if commit is None:
        return root
    found = _git(root, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    if found.returncode:
        raise NotThere(f"There is no commit {commit!r} here; give one that git log shows.")
    trees = root / ".trees"
    tree = trees / found.stdout.strip()[:12]
    if not tree.is_dir():
        _git(root, "worktree", "prune")  # of folders that someone removed
        _git(root, "worktree", "add", "--detach", "--quiet", str(tree), commit).check_returncode()
    _link(trees / "shared", root.parent / "shared")  # data sets are expected beside the project
    _link(tree / "benchmarks" / ".cache", root / "benchmarks" / ".cache")
    return tree


def environment_of(tree: Path) -> dict[str, str]:
    """The environment in which Python takes Holdfast and its benchmarks from a tree."""
    path = [str(tree / "src"), str(tree), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(path)}


def _git(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)


def _link(place: Path, target: Path) -> None:
    if target.is_dir() and not place.exists():
        place.symlink_to(target)
