"""Hold the benchmark of recall to what it says that it counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks import recall

BEFORE = """import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
total = tf.log(tf.constant(2.0))
print(total)
"""
AFTER = BEFORE.replace("tf.log(", "tf.math.log(").replace("gpus =", "print()\ngpus =")


def _commit(folder: Path, text: str) -> str:
    def git(*words: str) -> str:
        options = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *options, *words], cwd=folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    if not (folder / ".git").exists():
        git("init", "--quiet")
    (folder / "train.py").write_text(text, encoding="utf-8")
    git("add", "train.py")
    git("commit", "--quiet", "--message", "state")
    return git("rev-parse", "HEAD")


def test_a_repair_is_told_before_and_silent_after(tmp_path: Path) -> None:
    """Count a repair as found by the state before, and as silent by the same lines since."""
    folder = tmp_path / "someone+project"
    folder.mkdir()
    before, after = _commit(folder, BEFORE), _commit(folder, AFTER)
    table = tmp_path / "repairs.tsv"
    row = ("someone/project", before, after, "train.py", "4", "gone name", "tf.log is gone")
    table.write_text("# heading\n" + "\t".join(row) + "\n" + "\t".join((*row[:4], "3", *row[5:])) + "\n")
    command = [sys.executable, "-c", "from benchmarks import recall; from pathlib import Path; import sys;"]
    command[-1] += "recall.REPAIRS = Path(sys.argv.pop(1)); recall.main()"
    root = Path(recall.__file__).resolve().parent.parent

    def counted(*words: str) -> list[str]:
        done = subprocess.run(
            [*command, str(table), "--repairs", str(tmp_path), *words],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()[-1].split()

    assert counted("--half", "build") == ["all", "1", "1", "1"]
    assert counted("--half", "unseen") == ["all", "1", "0", "1"]


def test_lines_are_followed_through_a_change(tmp_path: Path) -> None:
    """Follow lines that stay to where they stand, and lines that are replaced to what replaced them."""
    before, after = tmp_path / "before.py", tmp_path / "after.py"
    before.write_text("a\nb\nc\nd\n")
    after.write_text("new\na\nb2\nb3\nd\n")
    assert recall.lines_since(before, after, [1]) == {2}
    assert recall.lines_since(before, after, [2]) == {3, 4}
    assert recall.lines_since(before, after, [4]) == {5}
    assert recall.lines_since(before, tmp_path / "gone.py", [1]) == set()


def test_the_table_of_repairs_can_be_read() -> None:
    """Read every row, each repair once, with the halves even within each kind."""
    rows = recall.repairs_of(None)
    assert len(rows) >= 60
    assert len({(row.repository, row.after, row.file, row.lines) for row in rows}) == len(rows)
    halves = [recall.repairs_of(half) for half in ("build", "unseen")]
    for kind in {row.kind for row in rows}:
        shares = [sum(row.kind == kind for row in half) for half in halves]
        assert abs(shares[0] - shares[1]) <= 1


def test_a_place_is_its_whole_statement(tmp_path: Path) -> None:
    """Take the lines of a call that spans several, and the head alone of what has a body."""
    file = tmp_path / "a.py"
    file.write_text("x = f(\n    1,\n    2,\n)\nwith g(\n    x\n) as y:\n    h(y)\n")
    assert recall.statements_at(file, [2]) == {1, 2, 3, 4}
    assert recall.statements_at(file, [5]) == {5, 6, 7}
    assert recall.statements_at(file, [8]) == {8}
