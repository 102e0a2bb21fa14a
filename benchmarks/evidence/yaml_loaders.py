"""What PyYAML and ruamel.yaml make of the same text. Nothing here is timed."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile

import yaml
from harness import fact, section
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

TAB = "\t"
TABLES: dict[str, tuple[str, ...]] = {
    "numbers with an exponent": ("1e-4", "1E-4", "1e4", "1e+4", "1.0e4", "1.0e-4", "1.e-4", "1.5e+3"),
    "words for yes and no": ("no", "off", "Yes", "On", "y", "n", "true", "TRUE"),
    "such words in lists": ("[en, no, fr]", "[NO, SE]"),
    "such words as keys": ("on: push", "no: 1", "yes: 1"),
    "numbers with colons": ("12:30", "1:20", "22:22", "12:30:45"),
    "numbers with leading zeros": ("010", "0777", "0o10", "0o777", "08", "09"),
    "repeated keys": ("a: 1\na: 2", "{a: 1, a: 2}"),
    "tabs": (
        f"a:\n{TAB}b: 1",
        f"a:\n  b: 1\n{TAB}c: 2",
        f"a:{TAB}1",
        f"a: 1{TAB}",
        f"a: 1{TAB}# c",
        f"{{a: 1,\n{TAB}b: 2}}",
    ),
    "words for nothing": ("None", "none", "nan", "NaN", "inf", "-inf", ".nan", ".inf", "~", "null", ""),
    "merge keys": (
        "a: &a {lr: 1, k: 1}\nb: &b {lr: 2}\nc:\n  <<: *a\n  <<: *b",
        "a: &a {lr: 1, k: 1}\nb: &b {lr: 2}\nc:\n  <<: [*a, *b]",
        "a: &a {s: {x: 1, y: 1}}\nc:\n  <<: *a\n  s: {x: 2}",
    ),
    "numbers as people write them": (
        "1,000",
        "50%",
        "8GB",
        "0.1f",
        "1 000",
        "16,32",
        "(1,2)",
        "1_000",
        "8_192",
    ),
    "versions": ("1.10", "3.10"),
    "backslashes in double quotes": (r'"C:\tmp"', r'"C:\data"'),
    "tags of Python": (
        "!!python/tuple [1, 2]",
        "!!python/name:os.system",
        "!!python/object/apply:os.getcwd []",
        "!!python/module:os",
    ),
    "signs at the start": ("@x", "`x`", "%x", "*x", "*.x", "=", "=: 1"),
}


def told(load: object, text: str) -> str:
    """What a loader makes of a text: the type and the value, or the error."""
    try:
        value = load(text)  # type: ignore[operator]
    except (yaml.YAMLError, YAMLError, ValueError) as error:
        return type(error).__name__
    return f"{type(value).__name__} {value!r}" if isinstance(value, (bool, int, float, str)) else repr(value)


def ruamel(text: str) -> object:
    return YAML(typ="safe", pure=True).load(io.StringIO(text))


LOADERS = {
    "PyYAML": yaml.safe_load,
    "libyaml": lambda text: yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)),  # noqa: S506
    "ruamel.yaml": ruamel,
}

for title, texts in TABLES.items():
    section(title)
    for text in texts:
        said = {name: told(load, text) for name, load in LOADERS.items()}
        if said["libyaml"] == said["PyYAML"]:
            del said["libyaml"]
        same = len(set(said.values())) == 1
        fact(
            text.encode("unicode_escape").decode() or "(nothing)",
            f"{said['PyYAML']} in both"
            if same
            else "; ".join(f"{name}: {what}" for name, what in said.items()),
        )

RELEASES = ("6.0.1", "6.0.2", "6.0.3", "6.0.4")
BY_RELEASE = (
    "{a: &a {lr: 1}, b: &b {lr: 2}, c: {<<: [*a, *b]}}",
    "{a: &a {lr: 1}, b: &b {lr: 2}, c: {<<: *a, <<: *b}}",
    "{a: &a {x: 1}, b: &b {x: 2}, c: {<<: [*a, *b]}}",
    "{a: &a {x: 1}, b: &b {x: 2}, c: {<<: *a, <<: *b}}",
    "{a: &a {lr: 1}, b: &b {<<: *a, lr: 2}, c: {<<: *b}}",
    "{a: &a {x: 1}, b: &b {<<: *a, x: 2}, c: {<<: *b}}",
)

section("merged sections by release of PyYAML")
read: dict[str, list[str]] = {text: [] for text in BY_RELEASE}
for release in RELEASES:
    with tempfile.TemporaryDirectory() as folder:
        install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder]
        subprocess.run([*install, f"PyYAML=={release}"], check=True)
        code = f"import sys; sys.path.insert(0, {folder!r}); import yaml; [print(yaml.safe_load(t)['c']) for t in sys.argv[1:]]"
        done = subprocess.run(
            [sys.executable, "-c", code, *BY_RELEASE], check=True, capture_output=True, text=True
        )
        for text, said in zip(BY_RELEASE, done.stdout.splitlines(), strict=True):
            read[text].append(said)
for text, answers in read.items():
    fact(
        text,
        "; ".join(f"{release}: {answer}" for release, answer in zip(RELEASES, answers, strict=True)),
    )
