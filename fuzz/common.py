"""What the fuzz targets share: seeds, a guard against side effects, and a loop that goes on after a crash.

Run with atheris where it is installed (coverage-guided), else with a plain mutating loop over the same seeds.
A crash is kept once for the place it comes from, with the input that made it, and the loop goes on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Nothing is kept between runs: what is cached was read before the guard is up, or is not read at all.
os.environ["CFGFIX_CACHE_DIR"] = ""

try:
    import atheris
except ImportError:
    atheris = None

SLOW_SECONDS = 5.0
"""An input of at most `MAX_INPUT` bytes that takes longer counts as a hang."""
MAX_INPUT = 8192


def instrument() -> contextlib.AbstractContextManager[object]:
    """Return what imports must be made under, so that atheris sees which of their branches are taken."""
    if atheris is None:
        return contextlib.nullcontext()
    return atheris.instrument_imports(include=["cfgfix"])


def shared() -> Path | None:
    """The folder with the corpus, where this machine has one."""
    place = Path(os.environ.get("CFGFIX_SHARED") or ROOT.parent / "shared")
    return place if (place / "corpus").is_dir() else None


FORBIDDEN = ("os.", "subprocess.", "socket.", "shutil.", "ctypes.", "urllib.", "webbrowser.", "exec", "pty.")
RECORDS = os.path.join("cfgfix", "records.py")
"""What makes constructors of the fields that its own classes have, as `dataclasses` does."""
_armed = [False]
_allowed: list[str] = []
"""The folder in which files may be written and for which generated code may run; empty for none."""


class SideEffect(BaseException):
    """Something reached out of the process; a `BaseException`, so that no handler swallows it."""


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if not _armed[0]:
        return
    if event == "exec" and sys._getframe(1).f_code.co_filename.endswith(RECORDS):  # noqa: SLF001 - who compiles is asked
        return
    if _allowed and (event == "exec" or (event == "open" and str(arguments[0]).startswith(_allowed[0]))):
        return
    reading = event == "open" and len(arguments) > 1 and arguments[1] in ("r", "rb", None)
    if (event.startswith(FORBIDDEN) and event not in ("os.listdir", "os.scandir")) or (
        event == "open" and not reading
    ):
        _armed[0] = False
        raise SideEffect(f"{event} {str(arguments)[:200]}")


@contextlib.contextmanager
def no_side_effects() -> Iterator[None]:
    """Have every write, process, socket, execution and library load inside raise `SideEffect`."""
    _armed[0] = True
    try:
        yield
    finally:
        _armed[0] = False


@contextlib.contextmanager
def no_side_effects_but_exec(folder: str) -> Iterator[None]:
    """The same for a target that runs code it has generated itself, and reads and writes files below `folder`."""
    _allowed[:] = [folder]
    _armed[0] = True
    try:
        yield
    finally:
        _armed[0] = False
        _allowed.clear()


def run(
    name: str, target: Callable[[bytes], None], seeds: Iterable[bytes], dictionary: Iterable[str] = ()
) -> None:
    """Feed a target for the seconds given on the command line (600 by default) and report.

    Args:
        name: What to call the target.
        target: Called with every input; anything it raises is a crash.
        seeds: Inputs to start from.
        dictionary: Words worth putting into an input.
    """
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    place = Path(os.environ.get("CFGFIX_FUZZ_OUT") or ROOT / "fuzz" / "found") / name
    place.mkdir(parents=True, exist_ok=True)
    sys.addaudithook(_watch)
    # A warning about hostile text would be printed to its reader's terminal.
    warnings.simplefilter("error", SyntaxWarning)
    known: dict[str, int] = {}
    state = {"runs": 0, "slowest": 0.0}
    started = time.monotonic()

    def report() -> None:
        result = {
            "target": name,
            "engine": "atheris" if atheris is not None else "plain mutation",
            "seconds": round(time.monotonic() - started),
            "inputs": state["runs"],
            "slowest_seconds": round(state["slowest"], 2),
            "crashes": known,
        }
        (place / "report.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        print(json.dumps(result), flush=True)

    def note(error: BaseException, data: bytes) -> None:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "cfgfix" in frame.filename]
        last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
        key = f"{type(error).__name__} in {Path(last.filename).name}:{last.name}:{last.lineno}"
        if key not in known:
            stem = hashlib.sha256(data).hexdigest()[:12]
            (place / stem).write_bytes(data)
            (place / f"{stem}.txt").write_text(
                key + "\n" + "".join(traceback.format_exception(error))[-4000:], encoding="utf-8"
            )
            print(f"CRASH {key} {stem}", flush=True)
        known[key] = known.get(key, 0) + 1

    def one(data: bytes) -> None:
        state["runs"] += 1
        if time.monotonic() - started > seconds:
            # libFuzzer ends the process without Python's own clean-up.
            report()
            os._exit(0)
        before = time.process_time()
        try:
            target(data[:MAX_INPUT])
        except (Exception, SideEffect, SystemExit) as error:  # noqa: BLE001 - whatever it raises is what is looked for
            note(error, data)
        taken = time.process_time() - before
        state["slowest"] = max(state["slowest"], taken)
        if taken > SLOW_SECONDS:
            note(TimeoutError(f"{taken:.1f} s"), data)

    pieces = [seed[:MAX_INPUT] for seed in seeds]
    random.Random(1).shuffle(pieces)
    if atheris is not None:
        corpus = place / "corpus"
        corpus.mkdir(exist_ok=True)
        for piece in pieces:
            (corpus / hashlib.sha256(piece).hexdigest()[:16]).write_bytes(piece)
        words = place / "words.dict"
        escaped = ["".join(f"\\x{byte:02x}" for byte in word.encode()) for word in dictionary]
        words.write_text("".join(f'"{word}"\n' for word in escaped), encoding="ascii")
        atheris.Setup(
            [
                sys.argv[0], f"-max_total_time={int(seconds) + 120}", f"-max_len={MAX_INPUT}", "-timeout=120", "-rss_limit_mb=4096",
                "-print_final_stats=1", f"-dict={words}", f"-artifact_prefix={place}/", str(corpus),
            ],
            one,
        )  # fmt: skip
        atheris.Fuzz()
        return
    rng = random.Random(2)
    vocabulary = [word.encode() for word in dictionary] or [b" "]
    while time.monotonic() - started < seconds:
        one(mutated(rng, rng.choice(pieces), pieces, vocabulary))
    report()


def mutated(rng: random.Random, data: bytes, pieces: list[bytes], words: list[bytes]) -> bytes:
    """Return an input with a few random changes."""
    for _ in range(rng.randrange(1, 6)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.randrange(12))
        kind = rng.randrange(5)
        if kind == 0:
            data = data[:start] + data[end:]
        elif kind == 1:
            data = data[:start] + rng.choice(words) + data[end:]
        elif kind == 2:
            data = data[:start] + bytes([rng.randrange(256)]) + data[end:]
        elif kind == 3:
            data = data[:end] + data[start:end] * rng.randrange(1, 40) + data[end:]
        else:
            other = rng.choice(pieces)
            cut = rng.randrange(len(other) + 1)
            data = data[:start] + other[cut : cut + 200] + data[end:]
    return data[:MAX_INPUT]
