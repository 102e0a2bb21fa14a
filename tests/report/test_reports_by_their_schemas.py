"""Every format held against what its readers demand, for reports with everything in them."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgfix.catalog.load import builtin
from cfgfix.edits import Edit, Fix, Safety, SetValue
from cfgfix.engine import FileReport, Report
from cfgfix.errors import CfgfixError, UnreadableError
from cfgfix.findings import Confidence, Finding, Location, Severity, State
from cfgfix.report import github, gitlab, junit, sarif
from cfgfix.settings import Settings

TEXT = "training:\n  learning_rate: 1e-4\n"
RULE = builtin().find("YML001")


def place(path="a.yaml", start=27, end=31, label=None):
    return Location(path, start, end, 2, 18, 2, 22, label)


def finding(**changes):
    values = {
        "rule": "YML001",
        "name": "float-without-dot-is-str",
        "severity": Severity.ERROR,
        "confidence": Confidence.HIGH,
        "message": "it is text",
        "location": place(),
        "key_path": ("training", "learning_rate"),
        **changes,
    }
    return Finding(**values)


def report(*findings, errors=(), edits=(), path="a.yaml"):
    return Report(
        files=(FileReport(path, TEXT, "generic", "pyyaml", tuple(findings), edits=tuple(edits)),),
        errors=tuple(errors),
        skipped=(),
        hardware="",
        settings=Settings(),
        fixed=False,
        unsafe_fixes=False,
        written=False,
        rules={rule.id: rule for rule in builtin().rules},
    )


FULL = report(
    finding(
        related=(place(label="the other one"),),
        fix=Fix("Write 1.0e-4", Safety.SAFE, (SetValue(("training", "learning_rate"), 1.0e-4),), "why"),
        profile="box",
    ),
    finding(
        severity=Severity.WARNING, flow=(place("train.py", 0, 3, "called here"), place("train.py", 4, 5))
    ),
    finding(severity=Severity.INFO, state=State.DORMANT),
    finding(state=State.FALLBACK, confidence=Confidence.LOW, key_path=None, context="x = 1"),
    errors=(UnreadableError("cannot be read", path="b.yaml"), CfgfixError("no file")),
    edits=((Edit(27, 31, "1.0e-4"),), None, None, None),
)


@pytest.fixture(scope="module")
def sarif_schema(shared_path):
    return jsonschema.Draft7Validator(
        json.loads((shared_path / "schemas" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    )


def test_sarif_with_everything_is_valid(sarif_schema):
    log = sarif.document(FULL)
    sarif_schema.validate(log)
    run = log["runs"][0]
    first, second, third, fourth = run["results"]
    assert first["fixes"][0]["artifactChanges"][0]["replacements"] == [
        {
            "deletedRegion": {"startLine": 2, "startColumn": 18, "endLine": 2, "endColumn": 22},
            "insertedContent": {"text": "1.0e-4"},
        }
    ]
    assert first["relatedLocations"][0]["message"]["text"] == "the other one"
    assert first["message"]["text"] == "[box] it is text"
    steps = second["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["physicalLocation"]["artifactLocation"]["uri"] for step in steps] == [
        "train.py",
        "train.py",
        "a.yaml",
    ]
    assert (third["kind"], third["level"]) == ("informational", "none")
    assert (fourth["kind"], fourth["level"]) == ("review", "none")
    assert len(run["invocations"][0]["toolExecutionNotifications"]) == 2
    assert not run["invocations"][0]["executionSuccessful"]
    rule = run["tool"]["driver"]["rules"][first["ruleIndex"]]
    assert "PyYAML" in rule["help"]["text"]
    assert "**Fix.**" in rule["help"]["markdown"]
    assert len({result["partialFingerprints"]["cfgfix/v1"] for result in run["results"]}) == 4


def test_every_rule_makes_a_valid_sarif_rule(sarif_schema):
    rules = builtin().rules
    log = sarif.document(report(*(finding(rule=rule.id, name=rule.name) for rule in rules)))
    sarif_schema.validate(log)
    told = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in told] == sorted(rule.id for rule in rules)
    for rule in told:
        assert rule["help"]["text"].strip()
        assert rule["fullDescription"]["text"]


GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "minLength": 1, "pattern": r"^(?!\./|/)"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
"""What GitLab reads (docs.gitlab.com, Code Quality report format): the path is relative, without `./` in front."""


def test_gitlab_is_what_gitlab_reads():
    rows = gitlab.document(FULL)
    jsonschema.Draft202012Validator(GITLAB).validate(rows)
    assert len(rows) == 6
    assert len({row["fingerprint"] for row in rows}) == 6


CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testsuite", "properties", "testcase", "system-out", "system-err"},
    "testcase": {"skipped", "error", "failure", "system-out", "system-err"},
    "failure": set(),
    "error": set(),
    "system-out": set(),
}
ATTRIBUTES = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {
            "group",
            "time",
            "skipped",
            "timestamp",
            "hostname",
            "id",
            "package",
            "file",
            "log",
            "url",
        },
    ),
    "testcase": ({"name"}, {"time", "classname", "group"}),
    "failure": (set(), {"type", "message"}),
    "error": (set(), {"type", "message"}),
    "system-out": (set(), set()),
}
"""Required and allowed attributes in the schema of Jenkins' xunit plugin, junit-10.xsd, the strictest reader."""


def junit_problems(text):
    tree = ET.fromstring(text)
    assert tree.tag == "testsuites"
    for element in tree.iter():
        required, allowed = ATTRIBUTES[element.tag]
        assert required <= element.attrib.keys() <= required | allowed, element.attrib
        assert {child.tag for child in element} <= CHILDREN[element.tag]
    for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        assert int(tree.get(name)) == len(list(tree.iter(tag)))
        for suite in tree.iter("testsuite"):
            assert int(suite.get(name)) == len(list(suite.iter(tag)))


def test_junit_is_what_the_strictest_reader_takes():
    junit_problems(junit.render(FULL))


def commands(text):
    """The annotations that GitHub's runner would make of a log."""
    found = []
    for line in re.split(r"\r\n|\n|\r", text):
        match = re.match(r"\s*::(error|warning|notice)(?: ([^:]*))?::(.*)$", line)
        if match:
            found.append(match.groups())
        else:
            assert not line.lstrip().startswith("::") or line.startswith(("::group::", "::endgroup::")), line
            assert "##[" not in line
    return found


@pytest.mark.parametrize("count", [1, 9, 10, 11, 40])
def test_github_gets_no_more_of_a_kind_than_it_shows_and_the_log_has_all(count):
    many = report(
        *(
            finding(severity=severity, message=f"{severity.label} {number}.")
            for severity in Severity
            for number in range(count)
        ),
        errors=[UnreadableError("cannot be read", path=f"f{number}.yaml") for number in range(count)],
    )
    text = github.render(many)
    found = commands(text)
    for command in ("error", "warning", "notice"):
        assert len([item for item in found if item[0] == command]) <= github.LIMIT
    log = text.partition("::group::")[2]
    for severity in Severity:
        for number in range(count):
            assert f"{severity.label} {number}." in log
    for number in range(count):
        assert f"f{number}.yaml: cannot be read" in log
    if 2 * count > github.LIMIT:
        told = next(item[2] for item in found if "more of severity error" in item[2])
        assert int(told.split()[0]) == 2 * count - (github.LIMIT - 1)


WORDS = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(
    ["::error::x", "##[group]y", "%0A", "a,b:c", "\r\n::stop-commands::z", "]]>", "&lt;", "\x00\x1b[31m"]
)


@settings(max_examples=80, deadline=None)
@given(WORDS, WORDS)
def test_no_name_and_no_text_breaks_a_format(name, words):
    path = f"{name or 'x'}.yaml"
    hostile = report(
        finding(message=words or "x", location=place(path, label=words)),
        errors=(UnreadableError(words or "x", path=path),),
        path=path,
    )
    assert [item[0] for item in commands(github.render(hostile))] == ["error", "error"]
    junit_problems(junit.render(hostile).encode("utf-8"))
    assert len(json.loads(gitlab.render(hostile))) == 2
    assert len(json.loads(sarif.render(hostile))["runs"][0]["results"]) == 1


def test_a_fingerprint_does_not_depend_on_how_a_path_is_named(tmp_path, monkeypatch):
    from cfgfix.report.fingerprint import fingerprints

    monkeypatch.chdir(tmp_path)
    relative = finding(location=place("conf/a.yaml"))
    absolute = finding(location=place(str(tmp_path / "conf" / "a.yaml")))
    assert [print_ for _, print_ in fingerprints([relative])] == [
        print_ for _, print_ in fingerprints([absolute])
    ]
