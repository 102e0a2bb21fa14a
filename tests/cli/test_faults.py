"""What goes wrong around cfgfix: killed half-way, a full disk, other writers, odd clocks, odd places, sheer size."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cache_folders import after_a_first_run

from cfgfix.core.errors import ExitCode
from cfgfix.lint import runner as engine
from cfgfix.lint import writing
from cfgfix.settings.reader import Settings

pytestmark = pytest.mark.acceptance

ROOT = Path(__file__).resolve().parent.parent.parent
BEFORE = "training:\n  learning_rate: 1e-4  # keep\ndata:\n  batch_size: 8\n  num_workers: 4\n"
AFTER = BEFORE.replace("1e-4", "1.0e-4")


def environment(tmp_path):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("CFGFIX_")}
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "CFGFIX_CACHE_DIR": after_a_first_run(tmp_path / ".cache-of-cfgfix"),
    }


def start(tmp_path, *arguments, cwd=None, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "cfgfix", *arguments],
        cwd=cwd or tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def many(folder, count, text=BEFORE):
    folder.mkdir()
    for number in range(count):
        (folder / f"c{number:05}.yaml").write_text(text)
    return sorted(folder.iterdir())


def leftovers(folder):
    return [path for path in folder.iterdir() if path.name.startswith(".cfgfix-")]


def test_killed_at_random_points_no_file_is_half_written_and_a_rerun_finishes(tmp_path, cfgfix):
    rng = random.Random(5)
    folder = tmp_path / "many"
    paths = many(folder, 120)
    kills = 0
    for _ in range(6):
        process = start(tmp_path, "fix", "many")
        # From the first file that is written on, a moment more or less.
        while process.poll() is None and not any(path.stat().st_size != len(BEFORE) for path in paths):
            time.sleep(0.001)
        time.sleep(rng.random() * 0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        texts = [path.read_text() for path in paths]
        assert set(texts) <= {BEFORE, AFTER}
        if BEFORE not in texts:
            for path in paths:
                path.write_text(BEFORE)
    assert kills, "every run was over before it was killed"
    assert len(leftovers(folder)) <= kills
    result = cfgfix("fix", "many")
    assert result.code == ExitCode.CLEAN, result.out[-500:]
    assert {path.read_text() for path in paths} == {AFTER}
    assert not leftovers(folder)
    assert cfgfix("check", "many").code == ExitCode.CLEAN


@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_an_interrupted_run_lists_what_it_wrote(tmp_path, number, code, word):
    folder = tmp_path / "many"
    paths = many(folder, 400)
    process = start(
        tmp_path, "fix", "many",
        # A job in the background of a shell ignores the interruption, and hands that on to its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )  # fmt: skip
    while process.poll() is None and paths[3].stat().st_size == len(BEFORE):
        time.sleep(0.001)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    if process.returncode == ExitCode.CLEAN:
        pytest.skip("not on this platform: the run was over before it was interrupted")
    assert process.returncode == code, err
    first, second, *listed = err.decode().splitlines()
    assert (first, second) == (f"cfgfix: {word}", "cfgfix: written before that:")
    changed = [os.path.join("many", path.name) for path in paths if path.read_text() == AFTER]
    assert [line.strip() for line in listed] == changed
    assert not leftovers(folder)


def test_a_run_that_is_interrupted_early_says_that_nothing_was_written(monkeypatch, capsys):
    from cfgfix.cli import start as cli
    from cfgfix.core import source_file

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_dispatch_command", interrupt)
    monkeypatch.setattr(source_file, "written", [])
    assert cli.run(["fix"]) == 130
    assert capsys.readouterr().err == "cfgfix: interrupted; nothing was written\n"


def test_a_full_disk_leaves_every_file_as_it_was(tmp_path):
    paths = many(tmp_path / "many", 5, BEFORE + "# " + "x" * 5000 + "\n")
    texts = [path.read_bytes() for path in paths]

    def no_room():
        # Writing beyond this many bytes fails, as on a full disk; pipes do not count.
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    process = start(tmp_path, "fix", "many", preexec_fn=no_room)
    out, err = process.communicate(timeout=120)
    assert process.returncode == ExitCode.UNREADABLE, err.decode()[-500:]
    assert b"cannot write" in out + err
    assert b"Traceback" not in err
    assert [path.read_bytes() for path in paths] == texts
    assert not leftovers(tmp_path / "many")


@pytest.fixture
def mounted(tmp_path):
    """A file system of 64 kB that is full or read-only when the test wants it."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("not on this platform: file systems cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full(mounted, tmp_path, cfgfix):
    path = mounted / "config.yaml"
    path.write_text(BEFORE)
    fill(mounted)
    result = cfgfix("fix", str(path))
    assert result.code == ExitCode.UNREADABLE
    assert "No space left" in result.err + result.out
    assert path.read_text() == BEFORE
    assert not leftovers(mounted)
    assert "no findings" not in result.err + result.out


def fill(folder):
    try:
        with open(folder / "filler", "wb") as stream:
            while True:
                stream.write(b"x" * 4096)
                stream.flush()
    except OSError:
        pass


@pytest.mark.parametrize("room", [0, 1, 3, 12])
def test_a_cache_without_room_changes_nothing_of_what_is_said(mounted, tmp_path, cfgfix, room):
    (tmp_path / "herd.yaml").write_text("cows: 3\nroundz: 2\n")
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nimport yaml\n\nherd = yaml.safe_load(open('herd.yaml'))\n"
        "model = tf.keras.Sequential([tf.keras.layers.Dense(herd['cows'])])\nmodel.compile('adam', 'mse')\n"
        "model.fit(tf.zeros((8, 2)), tf.zeros((8, 3)), epochs=herd['rounds'])\n"
    )
    for number in range(room):
        (mounted / f"{number}").write_bytes(bytes(4096))
    fill(mounted)
    for number in range(room):
        (mounted / f"{number}").unlink()
    (mounted / "cache").mkdir()
    first = cfgfix("check", ".", env={"CFGFIX_CACHE_DIR": str(mounted / "cache")})
    assert first == cfgfix("check", ".")
    assert first.code == ExitCode.FINDINGS
    assert "roundz" in first.out


def test_a_read_only_file_system(mounted, cfgfix):
    path = mounted / "config.yaml"
    path.write_text(BEFORE)
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    result = cfgfix("fix", str(path))
    assert result.code == ExitCode.UNREADABLE
    assert "Traceback" not in result.err
    assert path.read_text() == BEFORE


@pytest.mark.skipif(os.geteuid() == 0, reason="not on this platform: root writes everywhere")
def test_a_read_only_folder(tmp_path, cfgfix):
    (path,) = many(tmp_path / "many", 1)
    (tmp_path / "many").chmod(0o555)
    try:
        result = cfgfix("fix", "many")
    finally:
        (tmp_path / "many").chmod(0o755)
    assert result.code == ExitCode.UNREADABLE
    assert path.read_text() == BEFORE


def test_a_cache_folder_that_cannot_be_written_is_no_fault(tmp_path, cfgfix, config):
    config(BEFORE)
    for place in ("/proc/nowhere", "/dev/null", "/dev/null/x", "relative", "/dev/full"):
        result = cfgfix("check", "config.yaml", env={"CFGFIX_CACHE_DIR": place})
        assert result.code == ExitCode.FINDINGS
        assert "Traceback" not in result.err


def test_files_changed_between_reading_and_writing_are_left(tmp_path, monkeypatch):
    paths = many(tmp_path / "many", 6)
    real = writing.replace_atomically
    touched = []

    def meddling(path, data, expected):
        if not touched:
            # Another program saves every file, just before the first is written: same size, its time set back.
            for other in paths:
                facts = other.stat()
                touched.append(other)
                other.write_text(BEFORE.replace("keep", "mine"))
                os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
        return real(path, data, expected)

    monkeypatch.setattr(writing, "replace_atomically", meddling)
    report = engine.fix(engine.Request((str(tmp_path / "many"),), settings=Settings(root=str(tmp_path))))
    assert len(touched) == 6
    assert len(report.errors) == 6
    assert report.exit_code() == ExitCode.UNREADABLE
    assert not report.written
    assert {path.read_text() for path in paths} == {BEFORE.replace("keep", "mine")}
    assert not leftovers(tmp_path / "many")


def test_a_file_that_goes_away_before_it_is_written(tmp_path, monkeypatch):
    paths = many(tmp_path / "many", 3)
    real = writing.replace_atomically

    def meddling(path, data, expected):
        paths[1].unlink(missing_ok=True)
        return real(path, data, expected)

    monkeypatch.setattr(writing, "replace_atomically", meddling)
    report = engine.fix(engine.Request((str(tmp_path / "many"),), settings=Settings(root=str(tmp_path))))
    assert [os.path.basename(error.path or "") for error in report.errors] == ["c00001.yaml"]
    assert [path.read_text() for path in (paths[0], paths[2])] == [AFTER, AFTER]
    assert not paths[1].exists()


def test_several_at_once(tmp_path, cfgfix):
    paths = many(tmp_path / "many", 60)
    processes = [start(tmp_path, "fix", "many") for _ in range(4)]
    for process in processes:
        out, err = process.communicate(timeout=200)
        assert b"Traceback" not in err, err.decode()[-800:]
        # What another one has written meanwhile is told as changed (3); that is all.
        assert process.returncode in (ExitCode.CLEAN, ExitCode.FINDINGS, ExitCode.UNREADABLE), out[-500:]
        assert {path.read_text() for path in paths} <= {BEFORE, AFTER}
    assert not leftovers(tmp_path / "many")
    assert cfgfix("fix", "many").code == ExitCode.CLEAN
    assert {path.read_text() for path in paths} == {AFTER}


@pytest.mark.parametrize("shift", [-40 * 365 * 86400, -3600, 3600, 10 * 365 * 86400])
def test_a_clock_that_jumps(tmp_path, cfgfix, config, shift):
    """Files from the past or the future; a change that leaves size and time as they were is seen all the same."""
    path = config(BEFORE)
    when = time.time_ns() + shift * 10**9

    def date():
        os.utime(path, ns=(when, when))

    date()
    first = cfgfix("check", "config.yaml")
    assert first.code == ExitCode.FINDINGS
    again = cfgfix("check", "config.yaml")
    assert (again.code, again.out) == (first.code, first.out)
    path.write_text(BEFORE.replace("1e-4", "0.01"))
    date()
    assert path.stat().st_size == len(BEFORE)
    assert cfgfix("check", "config.yaml").code == ExitCode.CLEAN
    path.write_text(BEFORE)
    date()
    assert cfgfix("fix", "config.yaml").code == ExitCode.CLEAN
    assert path.read_text() == AFTER


def test_python_files_whose_times_were_set_back_are_read_again(tmp_path, cfgfix):
    path = tmp_path / "pipeline.py"
    good = "import tensorflow as tf\n\n\ndef load(n):\n    return tf.data.Dataset.range(n).map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE)\n"
    bad = good.replace(
        "num_parallel_calls=tf.data.AUTOTUNE",
        "num_parallel_calls=min(8,tf.data.AUTOTUNE)"[: len("num_parallel_calls=tf.data.AUTOTUNE")],
    )
    bad = good.replace("tf.data.AUTOTUNE", "min(8,-1) or None"[:16])
    when = time.time_ns() - 10**12
    answers = []
    for text in (good, good, bad, good):
        path.write_text(text)
        os.utime(path, ns=(when, when))
        answers.append(cfgfix("check", "pipeline.py").out)
        fresh = cfgfix("check", "pipeline.py", env={"CFGFIX_CACHE_DIR": ""}).out
        assert answers[-1] == fresh
    assert answers[0] == answers[1] == answers[3]


def test_without_a_home(tmp_path, config):
    config(BEFORE)
    kept = {
        key: value
        for key, value in environment(tmp_path).items()
        if key not in ("HOME", "CFGFIX_CACHE_DIR", "XDG_CACHE_HOME", "USER", "LOGNAME")
    }
    for extra in (
        {},
        {"HOME": ""},
        {"HOME": "/nonexistent/x"},
        {"HOME": "relative"},
        {"XDG_CACHE_HOME": "relative"},
    ):
        done = subprocess.run(
            [sys.executable, "-m", "cfgfix", "check", "config.yaml"],
            cwd=tmp_path, env={**kept, **extra}, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == ExitCode.FINDINGS, done.stderr
        assert b"Traceback" not in done.stderr
    assert not (tmp_path / "relative").exists()


def test_a_locale_without_utf_8(tmp_path, cfgfix, config):
    path = config("# متن\n" + BEFORE.replace("keep", "بماند"), "پیک.yaml")
    before = path.read_text(encoding="utf-8")
    plain = {
        "LC_ALL": "C",
        "LANG": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii",
    }
    result = cfgfix("check", ".", env=plain)
    assert result.code == ExitCode.FINDINGS
    assert "Traceback" not in result.err
    assert cfgfix("fix", ".", env=plain).code == ExitCode.CLEAN
    assert path.read_text(encoding="utf-8") == before.replace("1e-4", "1.0e-4")


def test_ten_thousand_files(tmp_path, cfgfix):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(10_000):
        (folder / f"f{number:05}.yaml").write_text(f"name: item {number}\nvalues: [1, 2, 3]\n")
    for number in (0, 5000, 9999):
        (folder / f"f{number:05}.yaml").write_text(BEFORE)
    result = cfgfix("check", "many", "--output-format", "concise")
    assert result.code == ExitCode.FINDINGS
    assert [line.split(":")[0] for line in result.out.splitlines() if "f0" in line and ".yaml:" in line]
    assert cfgfix("fix", "many").code == ExitCode.CLEAN
    assert (folder / "f05000.yaml").read_text() == AFTER
    assert (folder / "f05001.yaml").read_text() == "name: item 5001\nvalues: [1, 2, 3]\n"


def test_files_of_a_hundred_megabytes_are_told_and_not_read(tmp_path, cfgfix):
    line = b"key: " + b"x" * 1018 + b"\n"
    for name in ("big.yaml", "big.py"):
        with open(tmp_path / name, "wb") as stream:
            stream.writelines(line * 1024 for _ in range(100))

    def little_memory():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    for command in ("check", "fix"):
        process = start(tmp_path, command, "big.yaml", "big.py", preexec_fn=little_memory)
        out, err = process.communicate(timeout=200)
        assert process.returncode in (ExitCode.FINDINGS, ExitCode.UNREADABLE)
        assert b"big.yaml" in out + err
        assert b"Traceback" not in err
    assert (tmp_path / "big.yaml").stat().st_size == 100 * 1024 * 1024


DEEP = 10_000
BOMBS = {
    "dashes": "x:\n" + "- " * DEEP + "1\n",
    "question marks": "x:\n  " + "? " * DEEP + "1\n",
    "steps": "x:\n" + "".join(" " * level + "a:\n" for level in range(1, 2000)),
    "brackets": "x: " + "[" * DEEP + "]" * DEEP + "\n",
    "braces": "x: " + "{a: " * DEEP + "}" * DEEP + "\n",
    "pairs": "x: " + "[a: " * DEEP + "]" * DEEP + "\n",
    "anchors": "x: " + "".join(f"&a{number} [" for number in range(DEEP)) + "]" * DEEP + "\n",
    "doubling": "b0: &b0 [1, 1]\n" + "".join(f"b{n}: &b{n} [*b{n - 1}, *b{n - 1}]\n" for n in range(1, 60)),
    "doubling merges": "b0: &b0 {a: 1}\n"
    + "".join(f"b{n}: &b{n} {{<<: [*b{n - 1}, *b{n - 1}], k{n}: 1}}\n" for n in range(1, 60)),
    "doubling keys": "b0: &b0 [1, 1]\n"
    + "".join(f"? &b{n} [*b{n - 1}, *b{n - 1}]\n: 1\n" for n in range(1, 40)),
    "a long chain of merges": "b0: &b0 {a: 1}\n"
    + "".join(f"b{n}: &b{n} {{<<: *b{n - 1}}}\n" for n in range(1, 3000)),
    "many keys alike": "x:\n" + "  a: 1\n" * 1_000,
    "one long line": "x: " + "a " * 500_000 + "\n",
    "one long key": "k" * 200_000 + ": 1\n",
    "many documents": "---\na: 1\n" * 20_000,
    "many digits": "x: " + "9" * 100_000 + "\ny: 0x" + "f" * 100_000 + "\nz: " + "1:" * 5000 + "1\n",
}
CIRCLES = {
    "itself": "m: &m\n  <<: *m\n  x: *m\n",
    "within": "m: &m {a: {<<: *m}}\n",
    "a list": "m: &m\n  <<: [*m, *m]\n  x: 1\n",
    "two": "m: &m {n: &n {<<: *m}, <<: *n}\n",
    "a list of itself": "m: &m [*m]\n",
    "a key of itself": "m: &m {? *m : 1}\n",
}


@pytest.mark.parametrize("name", [*BOMBS, *CIRCLES])
def test_bombs_and_circles_end_and_change_nothing_but_the_fix(tmp_path, name):
    path = tmp_path / "config.yaml"
    body = BOMBS.get(name) or CIRCLES[name]
    path.write_text(BEFORE + body)

    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (100, 100))

    process = start(tmp_path, "fix", "config.yaml", preexec_fn=limits)
    out, err = process.communicate(timeout=300)
    assert process.returncode in (ExitCode.CLEAN, ExitCode.FINDINGS, ExitCode.UNREADABLE), (
        process.returncode,
        err[-800:],
    )
    assert b"Traceback" not in out + err, err[-800:]
    # Equal keys with equal values are one entry: the fix removes the others.
    alike = "x:\n  a: 1\n" if name == "many keys alike" else body
    assert path.read_text() in (BEFORE + body, AFTER + body, AFTER + alike)


def test_things_that_are_no_files_in_a_searched_folder(tmp_path, cfgfix):
    import socket

    (folder := tmp_path / "odd").mkdir()
    (folder / "config.yaml").write_text(BEFORE)
    os.mkfifo(folder / "pipe.yaml")
    os.mkfifo(folder / "pipe.py")
    (folder / "zero.yaml").symlink_to("/dev/zero")
    (folder / "random.py").symlink_to("/dev/urandom")
    (folder / "tty.yaml").symlink_to("/dev/tty")
    (folder / "memory.yaml").symlink_to("/proc/self/mem")
    here = os.getcwd()
    os.chdir(folder)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket.yaml")
    finally:
        os.chdir(here)
    for command in ("check", "fix"):
        result = cfgfix(command, "odd")
        assert result.code in (ExitCode.CLEAN, ExitCode.FINDINGS), result.err
        assert "Traceback" not in result.err
    assert (folder / "config.yaml").read_text() == AFTER


def test_standard_output_that_is_closed_or_full(tmp_path, config):
    config(BEFORE)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cfgfix", "check", "config.yaml"],
            cwd=tmp_path, env=environment(tmp_path), stdout=full, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert done.returncode != ExitCode.CLEAN
    assert shutil.which("true")


def test_a_comment_with_a_forbidden_character_can_be_removed(cfgfix, tmp_path):
    path = tmp_path / "train.yaml"
    path.write_bytes(b"---c00 &anr # cfgfix: ignore[YML001]\x1aa: b\nA")
    done = cfgfix("fix", path, "--isolated", "--dialect", "generic", "--force-dialect", "--hardware", "none")
    assert (done.code, done.err) == (0, "")
    assert path.read_bytes() == b"---c00 &anr\nA"


def test_a_forbidden_character_elsewhere_refuses_a_fix(cfgfix, tmp_path):
    path = tmp_path / "train.yaml"
    content = b"rate: 1 # cfgfix: ignore[YML001]\nname: b # \x1a\n"
    path.write_bytes(content)
    done = cfgfix("fix", path, "--isolated", "--dialect", "generic", "--force-dialect", "--hardware", "none")
    assert done.code == 3
    assert "internal error" not in done.out + done.err
    assert path.read_bytes() == content
