from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import jsonschema
import pytest

BAD = """\
training:
  learning_rate: 1e-4   # peak
  min_learning_rate: 1e-6
  enable_graph_mode: 'false'
data:
  batch_size: 32
  num_workers: 64
"""
MACHINE = ["--hardware", "rtx4090,cpus=8,ram=64"]


def test_sarif_is_valid_and_carries_fixes(cfgfix, config, shared_path):
    config(BAD, "conf dir/ü config.yaml")
    result = cfgfix("check", "conf dir/ü config.yaml", *MACHINE, "--output-format", "sarif")
    assert result.code == 1
    log = json.loads(result.out)
    schema = json.loads((shared_path / "schemas" / "sarif-schema-2.1.0.json").read_text())
    jsonschema.Draft7Validator(schema).validate(log)
    run = log["runs"][0]
    assert run["columnKind"] == "unicodeCodePoints"
    by_rule = {entry["ruleId"]: entry for entry in run["results"]}
    assert run["tool"]["driver"]["rules"][by_rule["YML001"]["ruleIndex"]]["id"] == "YML001"
    change = by_rule["YML001"]["fixes"][0]["artifactChanges"][0]
    assert change["artifactLocation"]["uri"] == "conf%20dir/%C3%BC%20config.yaml"
    assert change["replacements"][0]["insertedContent"]["text"].startswith("1.0e-")


def test_fingerprints_stay_when_lines_move(cfgfix, config):
    def prints(text):
        config(text)
        log = json.loads(cfgfix("check", "config.yaml", *MACHINE, "--output-format", "sarif").out)
        return sorted(
            (entry["ruleId"], entry["partialFingerprints"]["cfgfix/v1"])
            for entry in log["runs"][0]["results"]
        )

    first = prints(BAD)
    assert first == prints("# a new first line\n\n" + BAD)
    assert len({entry for _, entry in first}) == len(first)


def test_github_annotations(cfgfix, config):
    config(BAD)
    result = cfgfix("check", "config.yaml", *MACHINE, "--output-format", "github")
    assert result.code == 1
    line = next(line for line in result.out.splitlines() if "YML001" in line)
    assert line.startswith(
        "::error file=config.yaml,line=2,col=18,endLine=2,endColumn=22,title=YML001 float-without-dot-is-str::"
    )
    assert "::group::" in result.out


def test_github_loses_no_error_silently(cfgfix, config):
    config(
        "training:\n  optimizer_params:\n"
        + "".join(f"    learning_rate_{number}: 1e-{number}\n" for number in range(1, 30))
        + "data:\n  batch_size: 8\nmodel:\n  learning_rate: 1e-4\n"
    )
    result = cfgfix("check", "config.yaml", "--output-format", "github")
    for command in ("::error ", "::warning ", "::notice "):
        shown = [line for line in result.out.splitlines() if line.startswith(command)]
        assert len(shown) <= 10
    findings = json.loads(cfgfix("check", "config.yaml", "--output-format", "json").out)["files"][0][
        "findings"
    ]
    assert len(findings) > 10
    for finding in findings:
        assert f"config.yaml:{finding['location']['line']}:" in result.out
    assert "more" in result.out


def test_gitlab_and_junit(cfgfix, config):
    config(BAD)
    config("data: {batch_size: 8}\ntraining: {epochs: 1}\nmodel: {decoder_dim: 1024}\n", "fine.yaml")
    rows = json.loads(cfgfix("check", "config.yaml", *MACHINE, "--output-format", "gitlab").out)
    assert {"description", "check_name", "fingerprint", "severity", "location"} <= set(rows[0])
    assert len({row["fingerprint"] for row in rows}) == len(rows)
    tree = ET.fromstring(
        cfgfix(
            "check", "config.yaml", "fine.yaml", *MACHINE, "--select", "YML001", "--output-format", "junit"
        ).out
    )
    suites = {suite.get("name"): suite for suite in tree.findall("testsuite")}
    assert len(suites["config.yaml"].findall("testcase/failure")) == 2
    assert suites["fine.yaml"].find("testcase") is not None
    assert suites["fine.yaml"].find("testcase/failure") is None


def test_junit_fails_what_makes_the_exit_code(cfgfix, config):
    config(BAD)
    for least in ("info", "warning", "error", "never"):
        asked = ("check", "config.yaml", *MACHINE, "--fail-on", least, "--output-format")
        rows = [json.loads(line) for line in cfgfix(*asked, "jsonl").out.splitlines()]
        grave = {"info": ("info", "warning", "error"), "warning": ("warning", "error"), "error": ("error",), "never": ()}[least]  # fmt: skip
        result = cfgfix(*asked, "junit")
        suite = ET.fromstring(result.out).find("testsuite")
        failed = suite.findall("testcase/failure")
        assert len(failed) == int(suite.get("failures")) == sum(row["severity"] in grave for row in rows)
        assert len(suite.findall("testcase")) == len(rows)
        assert len(suite.findall("testcase/system-out")) == len(rows) - len(failed)
        assert bool(failed) == (result.code == 1)


def test_junit_of_a_diff_fails_what_would_be_fixed(cfgfix, config):
    config(BAD)
    asked = ("config.yaml", "--select", "YML001", "--output-format", "junit")
    assert len(ET.fromstring(cfgfix("fix", "--diff", *asked).out).findall("testsuite/testcase/failure")) == 2
    assert not ET.fromstring(cfgfix("fix", *asked).out).findall("testsuite/testcase/failure")


def test_json_lines(cfgfix, config):
    config(BAD)
    rows = [
        json.loads(line)
        for line in cfgfix("check", "config.yaml", *MACHINE, "--output-format", "jsonl").out.splitlines()
    ]
    assert {row["rule"] for row in rows} >= {"YML001", "HWR001"}


def test_several_formats_at_once(cfgfix, config, tmp_path):
    config(BAD)
    result = cfgfix(
        "check", "config.yaml", "--output-format", "concise", "--output-format", "sarif=out/x.sarif"
    )
    assert result.code == 3
    (tmp_path / "out").mkdir()
    result = cfgfix(
        "check",
        "config.yaml",
        "--output-format",
        "concise",
        "--output-format",
        "sarif=out/x.sarif",
        "--output-format",
        "junit=out/x.xml",
    )
    assert result.code == 1
    assert "YML001" in result.out
    assert json.loads((tmp_path / "out" / "x.sarif").read_text())["version"] == "2.1.0"
    ET.parse(tmp_path / "out" / "x.xml")
    assert cfgfix("check", "config.yaml", "--output-format", "json", "--output-format", "sarif").code == 2
    assert cfgfix("check", "config.yaml", "--output-format", "jsn").code == 2


@pytest.mark.parametrize("form", ["text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit"])
def test_the_exit_code_is_the_same(cfgfix, config, form):
    config(BAD)
    assert cfgfix("check", "config.yaml", "--output-format", form).code == 1
    assert cfgfix("check", "config.yaml", "--select", "CFG011", "--output-format", form).code == 0
    assert cfgfix("check", "absent.yaml", "--output-format", form).code == 3


def test_baseline(cfgfix, config):
    path = config(BAD)
    assert cfgfix("check", "config.yaml", *MACHINE, "--write-baseline", "known.json").code == 0
    result = cfgfix("check", "config.yaml", *MACHINE, "--baseline", "known.json")
    assert result.code == 0, result.out
    path.write_text("# moved\n\n" + BAD)
    assert cfgfix("check", "config.yaml", *MACHINE, "--baseline", "known.json").code == 0
    path.write_text(BAD + "  prefetch_buffer_size: -7\n")
    fresh = cfgfix("check", "config.yaml", *MACHINE, "--baseline", "known.json", "--output-format", "json")
    assert [finding["rule"] for finding in json.loads(fresh.out)["files"][0]["findings"]] == ["CFG004"]
    path.write_text(BAD.replace("1e-4", "1.0e-4"))
    assert (
        "stale in the baseline: config.yaml: YML001 training.learning_rate"
        in cfgfix("check", "config.yaml", *MACHINE, "--baseline", "known.json").out
    )
    (path.parent / "bad.json").write_text("[]")
    assert cfgfix("check", "config.yaml", "--baseline", "bad.json").code == 2


def test_add_ignores_silences_what_is_there(cfgfix, config):
    path = config(BAD)
    result = cfgfix("check", "config.yaml", "--select", "YML", "--add-ignores", "--reason", "agreed")
    assert result.code == 0, result.out + result.err
    assert "learning_rate: 1e-4   # peak  # cfgfix: ignore[YML001] agreed\n" in path.read_text()
    assert cfgfix("check", "config.yaml", "--select", "YML").code == 0


def test_profiles_are_named_in_the_findings(cfgfix, config, tmp_path):
    config(
        "data:\n  batch_size: 8\n  num_workers: 12\n  max_text_tokens: 200\ntraining:\n  learning_rate: 1e-4\n"
    )
    (tmp_path / "cfgfix.toml").write_text(
        "[hardware.profiles]\nbig = 'rtx4090,cpus=32'\nsmall = 'rtx4090,cpus=8'\n"
    )
    result = cfgfix(
        "check", "config.yaml", "--hardware", "all", "--select", "HWR001,YML001", "--output-format", "json"
    )
    found = [
        (finding["rule"], finding["profile"]) for finding in json.loads(result.out)["files"][0]["findings"]
    ]
    assert found == [("HWR001", "small"), ("YML001", None)]
    assert cfgfix("check", "config.yaml", "--hardware", "small", "--select", "HWR001").code == 1
    assert cfgfix("check", "config.yaml", "--hardware", "big", "--select", "HWR001").code == 0
    assert cfgfix("fix", "config.yaml", "--hardware", "all").code == 2


def test_statistics(cfgfix, config):
    config(BAD)
    assert (
        "2  YML001 float-without-dot-is-str  in 1 file, 2 with a safe fix"
        in cfgfix("check", "config.yaml", "--statistics").out
    )
