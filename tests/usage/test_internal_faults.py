"""A fault of cfgfix while programs are followed is told once and costs only what it cuts off."""

from __future__ import annotations

import pytest

from cfgfix.code.inference.interpreter import interpreter
from cfgfix.code.inference.interpreter.models import loading
from cfgfix.core.errors import ExitCode
from cfgfix.lint import runner as engine
from cfgfix.usage import project_code, verdicts

TRAIN = """\
import tensorflow as tf
import yaml


def main():
    config = yaml.safe_load(open("{config}"))
    model = tf.keras.Sequential([tf.keras.layers.Dense(config["units"])])
    model.compile(tf.keras.optimizers.Adam(config["learning_rate"]), "mse")
    print(config["name"])


main()
"""
CONFIG = "units: 4\nlearning_rate: 1e-3\nname: a\nunused: 1\nbatch_size: 0\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(tmp_path.parent / f"{tmp_path.name}-cache"))
    (tmp_path / ".git").mkdir()
    for name in ("one", "two"):
        (tmp_path / f"train_{name}.py").write_text(TRAIN.replace("{config}", f"{name}.yaml"))
        (tmp_path / f"{name}.yaml").write_text(CONFIG)
    return tmp_path


def fault(*_arguments, **_keywords):
    raise KeyError("a fault")


def found(report):
    return {item.path: {finding.rule for finding in item.findings} for item in report.files}


def internal(report):
    return [error for error in report.errors if error.code is ExitCode.INTERNAL]


def by_keys(project):
    """What is found by the keys of the configs alone."""
    code = [(path, path.read_text()) for path in project.glob("*.py")]
    for path, _ in code:
        path.unlink()
    result = found(engine.check(engine.Request((".",))))
    for path, text in code:
        path.write_text(text)
    return result


def test_the_programs_are_told_of(project):
    rules = found(engine.check(engine.Request((".",))))
    assert {"REF005", "REF018"} <= rules["one.yaml"] & rules["two.yaml"]


def test_a_fault_in_one_program_leaves_the_others(project, monkeypatch):
    keys = by_keys(project)
    whole = found(engine.check(engine.Request((".",))))
    real = loading.load

    def load(call, *arguments):
        result = real(call, *arguments)
        if call.run.main.path.endswith("train_one.py"):
            fault()
        return result

    monkeypatch.setattr(loading, "load", load)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(project / ".cache"))
    report = engine.check(engine.Request((".",)))
    (error,) = internal(report)
    assert error.path is not None
    assert error.path.endswith("train_one.py")
    assert "KeyError: 'a fault' in " in error.message
    assert "test_internal_faults.py:" in error.message
    assert report.exit_code() is ExitCode.INTERNAL
    rules = found(report)
    # Which keys have no use is only told where every program is known.
    assert whole["two.yaml"] - rules["two.yaml"] <= {"REF007"}
    assert "REF018" in rules["two.yaml"]
    assert "REF005" not in rules["one.yaml"]
    assert keys["one.yaml"] <= rules["one.yaml"]


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (project_code.ProjectCode, "_run"),
        (verdicts, "_verdicts_of"),
        (interpreter.Interpreter, "module"),
        (project_code, "_facts_of"),
    ],
)
def test_a_fault_anywhere_else_leaves_what_the_keys_say(project, monkeypatch, place, name):
    keys = by_keys(project)
    monkeypatch.setattr(place, name, fault)
    for _ in range(2):
        # What a fault cut off is not kept for the next run.
        report = engine.check(engine.Request((".",)))
        assert internal(report)
        assert len({str(error) for error in report.errors}) == len(report.errors)
        assert report.exit_code() is ExitCode.INTERNAL
        rules = found(report)
        assert {path: rules[path] for path in keys} == keys


def test_a_fault_while_the_code_of_a_class_is_read_leaves_what_the_keys_say(project, monkeypatch):
    from cfgfix.usage import checks

    (project / "cfgfix.toml").write_text('source-roots = ["."]\n')
    monkeypatch.setattr(checks, "usage_of", fault)
    report = engine.check(engine.Request((".",)))
    assert len(internal(report)) == 1
    assert "REF018" in found(report)["one.yaml"]


def test_a_fix_whose_effect_could_not_be_judged_is_refused(project, monkeypatch):
    monkeypatch.setattr(project_code.ProjectCode, "_facts_of_text", fault)
    report = engine.fix(engine.Request(("one.yaml",)))
    assert internal(report)
    assert report.exit_code() is ExitCode.INTERNAL
    (one,) = (item for item in report.files if item.path == "one.yaml")
    assert {item.reason for item in one.refused} == {"an internal error kept its effect from being judged"}
    assert (project / "one.yaml").read_text() == CONFIG


def test_a_budget_is_no_fault(project, monkeypatch):
    def spent(*_):
        raise interpreter.Exhausted

    monkeypatch.setattr(loading, "load", spent)
    assert not internal(engine.check(engine.Request((".",))))


def test_the_command_tells_it_in_one_line_and_goes_on(project, monkeypatch, capsys):
    from cfgfix.cli.start import run

    monkeypatch.setattr(verdicts, "_verdicts_of", fault)
    assert run(["check", ".", "--hardware", "none"]) == ExitCode.INTERNAL
    out, err = capsys.readouterr()
    assert "YML001" in out
    assert "Traceback" not in err + out
    assert (err + out).count("internal error") == 2  # one for each config
