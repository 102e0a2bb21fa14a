"""An untrusted checkout: its settings, rules, dialects and schemas are data; they reach nothing outside of it."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass

import pytest

from cfgfix.cli import start as start_up
from cfgfix.config.schema import limited_validator

HEAD = "training:\n  learning_rate: 1e-4\ndata:\n  batch_size: 8\n  num_workers: 4\n"
RULE = (
    "id: USR001\nname: mine\nsummary: s\nseverity: error\nat: batch_size\nwhen: 'true'\nmessage: 'SECRET'\nwhy: w\n"
    "no_fix: n\nevidence: [{source: s}]\ncases:\n  - {name: a, config: 'data: {batch_size: 1}', finds: [data.batch_size]}\n"
    "  - {name: b, config: 'data: {}', finds: []}\n"
)
SCHEMA = {"title": "SECRET", "properties": {"data": {"properties": {"batch_size": {"const": "SECRET"}}}}}


@pytest.fixture
def checkout(tmp_path):
    """A checkout with a config, and a folder beside it that is none of its business."""
    place = tmp_path / "checkout"
    place.mkdir()
    (place / "config.yaml").write_text(HEAD)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "USR001-mine.yaml").write_text(RULE)
    (outside / "schema.json").write_text(json.dumps(SCHEMA))
    (outside / "private.yaml").write_text(HEAD + "secret: SECRET\n")
    (outside / "secret.py").write_text("import tensorflow as tf\nSECRET = 1\n")
    return place


@dataclass
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """The command line in this process, for speed: what is tested here depends on no other state of it."""

    def start(*arguments, cwd, env=None):
        monkeypatch.chdir(cwd)
        monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
        for name, value in (env or {}).items():
            monkeypatch.setenv(name, value)
        capsys.readouterr()
        try:
            code = start_up.run(list(arguments))
        except SystemExit as error:
            code = error.code
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return start


def told(result, *words, code=2):
    assert result.code == code, (result.code, result.out[-400:], result.err[-800:])
    assert "Traceback" not in result.err
    assert "SECRET" not in result.out + result.err
    for word in words:
        assert word in result.out + result.err


OUTSIDE = [
    "rules = ['../outside']",
    "rules = ['{outside}']",
    "rules = ['link']",
    "rules = ['sub/../../outside']",
    "schema = '../outside/schema.json'",
    "schema = '{outside}/schema.json'",
    "schema = 'link/schema.json'",
    "schema = 'link.json'",
    "dialects = ['../outside']",
    "dialects = ['/']",
    "rules = ['/']",
    "source-roots = ['../outside']",
    "source-roots = ['/']",
    "hardware = '../outside/machine.yaml'",
    "hardware = '~/machine.yaml'",
    "hardware = {{default = 'a', profiles = {{a = '{outside}/machine.json'}}}}",
    "rules = ['\\u0000']",
]


@pytest.mark.parametrize("settings", OUTSIDE)
def test_settings_name_nothing_outside_the_project(run, checkout, tmp_path, settings):
    (checkout / "link").symlink_to(tmp_path / "outside")
    (checkout / "link.json").symlink_to(tmp_path / "outside" / "schema.json")
    text = settings.format(outside=tmp_path / "outside")
    (checkout / "cfgfix.toml").write_text(text.replace("'\\u0000'", '"\\u0000"') + "\n")
    told(run("check", ".", cwd=checkout), "leads out of the project", "cfgfix.toml")


def test_the_project_is_the_whole_repository(run, checkout, tmp_path):
    (checkout / ".git").mkdir()
    (checkout / "shared").mkdir()
    (checkout / "shared" / "USR001-mine.yaml").write_text(RULE.replace("SECRET", "found it"))
    (checkout / "inner").mkdir()
    (checkout / "inner" / "config.yaml").write_text(HEAD)
    (checkout / "inner" / "cfgfix.toml").write_text("rules = ['../shared']\n")
    assert "found it" in run("check", ".", cwd=checkout / "inner", env={"COLUMNS": "200"}).out
    (checkout / "inner" / "cfgfix.toml").write_text("rules = ['../../outside']\n")
    told(run("check", ".", cwd=checkout / "inner"), "leads out of the project")


@pytest.mark.parametrize("command", ["check", "fix"])
def test_links_in_a_searched_folder_lead_nowhere_outside(run, checkout, tmp_path, command):
    (checkout / "private.yaml").symlink_to(tmp_path / "outside" / "private.yaml")
    (checkout / "folder").symlink_to(tmp_path / "outside")
    (checkout / "secret.py").symlink_to(tmp_path / "outside" / "secret.py")
    (checkout / "same.yaml").symlink_to("config.yaml")
    result = run(command, ".", cwd=checkout, env={"COLUMNS": "200"})
    assert "SECRET" not in result.out + result.err
    assert "private" not in result.out + result.err
    assert (tmp_path / "outside" / "private.yaml").read_text() == HEAD + "secret: SECRET\n"
    assert "config.yaml" in result.out


def test_links_in_rule_folders_are_not_followed(run, checkout, tmp_path):
    (checkout / "rules").mkdir()
    (checkout / "rules" / "USR001-mine.yaml").symlink_to(tmp_path / "outside" / "USR001-mine.yaml")
    (checkout / "cfgfix.toml").write_text("rules = ['rules']\n")
    told(run("check", ".", cwd=checkout), "holds no rule files")


@pytest.mark.parametrize(
    "reference",
    [
        "../outside/schema.json",
        "sub/../../outside/schema.json",
        "link.json",
        "%2e%2e/outside/schema.json",
        "file:///etc/passwd",
        "https://example.invalid/schema.json",
        "//example.invalid/schema.json",
        "ftp://example.invalid/x",
        "/etc/passwd",
        "\\\\server\\share",
    ],
)
def test_references_of_a_schema_stay_in_its_folder(run, checkout, tmp_path, reference):
    (checkout / "link.json").symlink_to(tmp_path / "outside" / "schema.json")
    (checkout / "schema.json").write_text(json.dumps({"properties": {"data": {"$ref": reference}}}))
    (checkout / "cfgfix.toml").write_text("schema = 'schema.json'\n")
    told(run("check", ".", cwd=checkout), "schema.json")


@pytest.mark.parametrize("keyword", ["$dynamicRef", "$schema", "$id"])
def test_no_keyword_of_a_schema_reaches_the_network(run, checkout, keyword):
    (checkout / "schema.json").write_text(
        json.dumps(
            {keyword: "https://example.invalid/schema.json", "properties": {"data": {"type": "object"}}}
        )
    )
    (checkout / "cfgfix.toml").write_text("schema = 'schema.json'\n")
    result = run("check", ".", cwd=checkout)
    assert "Traceback" not in result.err
    assert result.code in (1, 2, 3)


GREEDY = [
    "^(a+)+$",
    "^(a|a)*$",
    "^(a|aa)+$",
    "(.*)*x",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(x+x+)+y",
    "^(?:(?:a*)*)*b$",
    "a" * 5000,
    "(" * 500 + ")" * 500,
    "a{1000000000}",
    "(?=(a+)+b)",
    "[" * 300,
]


@pytest.mark.parametrize("place", ["pattern", "patternProperties", "propertyNames"])
def test_patterns_that_would_run_for_ever_are_not_run(cfgfix, checkout, place):
    text = "a" * 3000 + "!"
    (checkout / "config.yaml").write_text(HEAD + f"  {'a' * 120}!: 1\n  name: {text}\n")
    inner = {
        "pattern": {"properties": {"name": {"allOf": [{"pattern": pattern} for pattern in GREEDY]}}},
        "patternProperties": {"patternProperties": {pattern: {"type": "object"} for pattern in GREEDY}},
        "propertyNames": {"propertyNames": {"anyOf": [{"pattern": pattern} for pattern in GREEDY]}},
    }[place]
    (checkout / "schema.json").write_text(json.dumps({"properties": {"data": inner}}))
    (checkout / "cfgfix.toml").write_text("schema = 'schema.json'\n")
    before = time.monotonic()
    result = cfgfix("check", ".", cwd=checkout)
    # No limit on the time of a run, only what tells an answer from none: backtracking would take years.
    assert time.monotonic() - before < 100
    assert "Traceback" not in result.err
    assert result.code in (1, 2, 3)


def nested(depth):
    schema: dict = {"type": "object"}
    for _ in range(depth):
        schema = {"properties": {"data": schema}}
    return schema


BOMBS = {
    "itself": {"$ref": "#"},
    "in circles": {
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}},
        "$ref": "#/$defs/a",
    },
    "2**40 ways": {
        "$defs": {
            **{f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)},
            "d40": {"type": "string"},
        },
        "$ref": "#/$defs/d0",
    },
    "deep": nested(300),
    "many": {"properties": {f"k{n}": {"type": "string"} for n in range(150_000)}},
    "a list": [],
    "text": "x",
    "numbers": {"properties": {"data": {"properties": {"batch_size": {"multipleOf": 1e-320}}}}},
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_schemas_that_would_not_end_are_refused_or_bounded(run, checkout, monkeypatch, bomb):
    monkeypatch.setattr(limited_validator, "MAX_SECONDS", 1.0)
    (checkout / "schema.json").write_text(json.dumps(BOMBS[bomb]))
    (checkout / "cfgfix.toml").write_text("schema = 'schema.json'\n")
    result = run("check", ".", cwd=checkout)
    assert "Traceback" not in result.err
    assert result.code in (1, 2, 3)


EXPRESSIONS = [
    "1" * 3000,
    "(" * 1900 + ")",
    "not " * 450 + "true",
    "-" * 1900 + "1",
    " + ".join(["batch_size"] * 180),
    "9" * 1900,
    "batch_size * " * 140 + "batch_size",
    "[[[[[[1]]]]]]" * 100,
    "min(" * 300 + "1" + ")" * 300,
    "batch_size ** batch_size",
    "batch_size << 10",
    "'a' * batch_size",
    "[x for x in batch_size]",
    "1if batch_size else 0x",
    "batch_size.real.__class__.__mro__",
    "f'{batch_size.__class__}'",
    "s",
    "_num(1)",
    "default(__import__, 1)",
    "(y := 1)",
    "open('/etc/passwd')",
    "\\x00",
]


def test_expressions_of_any_size_and_kind_are_refused_or_bounded(run, checkout, tmp_path):
    (checkout / "rules").mkdir()
    (checkout / "cfgfix.toml").write_text("rules = ['rules']\n")
    rule = checkout / "rules" / "USR001-mine.yaml"
    for expression in EXPRESSIONS:
        rule.write_text(RULE.replace("'true'", json.dumps(expression)))
        result = run("check", ".", cwd=checkout)
        assert "Traceback" not in result.err, expression
        assert "Warning:" not in result.err, (expression, result.err)
        assert result.code in (1, 2), expression


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("at: batch_size\nwhen: 'true'\n", "check: source.common.anything\n", "check"),
        ("at: batch_size\nwhen: 'true'\n", "check: source.os.system\n", "check"),
        ("at: batch_size\nwhen: 'true'\n", "check: 'yaml.__init__'\n", "check"),
        ("no_fix: n\n", "folklore: {claim: c}\nno_fix: n\n", "folklore"),
        ("no_fix: n\n", "related: [{label: x}]\nno_fix: n\n", "related"),
        ("no_fix: n\n", "tables: {a: {tiers: {1: {b: .inf}}}}\nno_fix: n\n", "tables"),
        ("no_fix: n\n", "tables: {a: " + "[" * 250 + "]" * 250 + "}\nno_fix: n\n", "tables"),
        ("no_fix: n\n", "tables: {a: {tiers: {1: {b: 0x" + "f" * 6000 + "}}}}\nno_fix: n\n", "tables"),
        ("no_fix: n\n", "let: [1]\nno_fix: n\n", "let"),
        ("no_fix: n\n", "escalate: {1: 2}\nno_fix: n\n", "escalate"),
        ("no_fix: n\n", "each: {keys: [[a]]}\nno_fix: n\n", "each"),
        ("no_fix: n\n", "fix: {set: [a], to: 1, safety: safe, title: t, why: w}\n", "fix"),
        ("no_fix: n\n", "notes: {a: 1}\nno_fix: n\n", "notes"),
        ("summary: s\n", "summary: [s]\n", "summary"),
        ("id: USR001\n", 'id: "USR\'1\\") or 1"\n', "id"),
        ("name: mine\n", 'name: "a\'b"\n', "name"),
        ("no_fix: n\n", "1: 2\nno_fix: n\n", "unknown key"),
        ("finds: []}", "finds: [], 1: 2, x: 3}", "unknown key"),
    ],
)
def test_rule_files_of_any_shape_are_told(run, checkout, old, new, words):
    (checkout / "rules").mkdir()
    (checkout / "cfgfix.toml").write_text("rules = ['rules']\n")
    assert old in RULE
    (checkout / "rules" / "USR001-mine.yaml").write_text(RULE.replace(old, new))
    told(run("check", ".", cwd=checkout), "USR001-mine.yaml", words)


def test_cases_of_a_rule_stay_in_their_folder_and_run_nothing(run, checkout, tmp_path):
    (checkout / "rules").mkdir()
    cases = [
        "{name: b, files: {'../../outside/new.py': 'x'}, finds: []}",
        "{name: b, config: 'a: 1', loader: nope, finds: []}",
        "{name: b, config: 'a: 1', dialect: ../../x, finds: []}",
        "{name: b, config: 'a: 1', hardware: ../../outside/private.yaml, finds: []}",
        "{name: b, config: 'a: 1', hardware: [1], finds: []}",
        "{name: b, config: 'a: 1', schema: {$ref: '../../outside/schema.json'}, finds: []}",
        "{name: b, config_base64: '!', finds: []}",
        "{name: b, config: 'a: 1', set: [1], finds: []}",
        "{name: b, config: 'a: 1', set: 5, finds: []}",
    ]
    for case in cases:
        (checkout / "rules" / "USR001-mine.yaml").write_text(
            RULE.replace("{name: b, config: 'data: {}', finds: []}", case)
        )
        result = run("rules", "test", "rules", cwd=checkout)
        assert "Traceback" not in result.err, case
        assert result.code in (0, 1, 2, 3), (case, result.out)
    assert sorted(path.name for path in (tmp_path / "outside").iterdir()) == [
        "USR001-mine.yaml",
        "private.yaml",
        "schema.json",
        "secret.py",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000,
        "a = {" * 2000,
        "a." * 5000 + "b = 1",
        "include = ['" + "*a" * 400 + "b']",
        "exclude = ['" + "[!a]*" * 300 + "']",
        "exclude = ['**/**/**/**/**/**/**/x']",
        "x" * 2_000_000,
        "per-file-ignores = {'" + "*a" * 200 + "' = ['ALL']}",
        "keys = {batch_size = '" + "a." * 5000 + "b'}",
        "\x00",
    ],
)
def test_settings_of_any_size_end(run, checkout, text):
    (checkout / ("a" * 200 + ".yaml")).write_text(HEAD)
    (checkout / "cfgfix.toml").write_text(text + "\n")
    result = run("check", ".", cwd=checkout)
    assert "Traceback" not in result.err
    assert result.code in (0, 1, 2)


def test_pipes_where_settings_and_ignore_files_are_looked_for(cfgfix, checkout):
    for name in ("cfgfix.toml", "pyproject.toml", ".gitignore", "pipe.yaml", "pipe.py", "dialect.yaml"):
        os.mkfifo(checkout / name)
    (checkout / "m.py").write_text("import tensorflow as tf\n")
    result = cfgfix("check", ".", cwd=checkout)
    assert result.code == 1
    assert "Traceback" not in result.err


def test_python_files_of_a_checkout_are_never_imported(cfgfix, checkout):
    for name in (
        "yaml",
        "click",
        "json",
        "sitecustomize",
        "conftest",
        "setup",
        "cfgfix_plugin",
        "tensorflow",
    ):
        (checkout / f"{name}.py").write_text("open('pwned', 'w')\nimport tensorflow as tf\n")
    result = cfgfix("check", ".", cwd=checkout)
    assert result.code == 1
    assert not (checkout / "pwned").exists()


@pytest.mark.parametrize("name", ["loop.yaml", "loop.py", "loop.ipynb"])
def test_a_link_in_a_circle_hides_nothing_beside_it(run, checkout, name):
    (checkout / name).symlink_to(name)
    (checkout / "train.py").write_text("import tensorflow as tf\ntf.data.Dataset.range(3).batch(-5)\n")
    result = run("check", ".", "--output-format", "concise", cwd=checkout)
    assert result.code == 1
    assert "train.py:2" in result.out
    assert "loop" not in result.out + result.err
