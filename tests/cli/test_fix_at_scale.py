"""Many findings in one file: all are fixed, what is refused is told with the true reason, and the proofs stay few."""

import json

import pytest

from cfgfix.config.document import language
from cfgfix.lint.project_findings import MAX_FINDINGS, MAX_FIXED

HEAD = "training:\n  epochs: 2\n  batch_size: 8\n"
REFUSED = "  beta1: 5e4\n"
"""A value that becomes a number out of range once it is a number at all."""


@pytest.fixture
def proofs(monkeypatch):
    """The size of each proof that is made, in changes."""
    made = []
    prove = language.prove

    def counted(before, after, changes, *rest):
        made.append(len(changes))
        return prove(before, after, changes, *rest)

    monkeypatch.setattr(language, "prove", counted)
    return made


def fixed(tmp_path, text, dialect="myxtts"):
    from cfgfix.lint import runner as engine
    from cfgfix.settings.reader import Settings

    path = tmp_path / "config.yaml"
    path.write_text(text)
    settings = Settings(root=str(tmp_path), dialect=dialect, hardware="none")
    request = engine.Request((str(path),), settings=settings)
    (report,) = engine.fix(request).files
    return report, path.read_text()


@pytest.mark.parametrize("count", [99, 100, 101, 1_500])
@pytest.mark.parametrize("last", [True, False])
def test_one_refused_fix_holds_up_no_other(tmp_path, proofs, count, last):
    values = "x:\n" + "".join(f"  k{number}: 1e-3\n" for number in range(count))
    text = values + HEAD + REFUSED if last else HEAD + REFUSED + values
    report, after = fixed(tmp_path, text)
    assert after == text.replace("1e-3", "1.0e-3")
    assert [item.reason.split(":")[0] for item in report.refused] == ["the fix would bring a new error"]
    assert "beta1" in report.refused[0].reason
    assert not report.cycle
    assert len(proofs) <= 5


@pytest.mark.parametrize("count", [MAX_FINDINGS - 1, MAX_FINDINGS + 2, 3 * MAX_FINDINGS])
def test_more_findings_than_are_listed_are_all_fixed(tmp_path, proofs, count):
    text = HEAD + "x:\n" + "".join(f"  m{number}:\n    lr: 1e-3\n" for number in range(count))
    report, after = fixed(tmp_path, text)
    assert after == text.replace("1e-3", "1.0e-3")
    assert not report.refused
    assert proofs == [count]


def test_a_file_with_too_many_findings_is_told_so(tmp_path, proofs, monkeypatch):
    from cfgfix.lint import file_reports

    monkeypatch.setattr(file_reports, "MAX_FIXED", 50)
    text = HEAD + "x:\n" + "".join(f"  k{number}: 1e-3\n" for number in range(60))
    report, after = fixed(tmp_path, text)
    assert after == text
    assert [item.finding.rule for item in report.refused] == ["YML001"]
    assert "split the file" in report.refused[0].reason
    assert not proofs
    assert MAX_FIXED >= 20 * MAX_FINDINGS


def test_what_another_fix_makes_possible_is_fixed_in_the_same_run(tmp_path, proofs):
    text = HEAD + "data:\n  on: 1\n  on: 1\n  worker: 2\n"
    report, after = fixed(tmp_path, text, "generic")
    assert after == HEAD + "data:\n  'on': 1\n  worker: 2\n"
    assert len(report.applied) == 2
    assert not report.refused
    again, unchanged = fixed(tmp_path, after, "generic")
    assert (again.applied, unchanged) == ((), after)


def test_two_suppressions_in_one_comment_are_removed_in_one_run(tmp_path, proofs):
    text = HEAD + "x:\n  k: 1 # cfgfix: ignore[YML004] # cfgfix: ignore[YML001]\n"
    report, after = fixed(tmp_path, text)
    assert "ignore" not in after
    assert not report.refused


def test_what_is_cut_off_is_said(tmp_path, cfgfix):
    values = "".join(f"  k{number}: 1e-3\n" for number in range(MAX_FINDINGS + 1))
    (tmp_path / "many.yaml").write_text(f"{HEAD}x:\n{values}")
    calls = "".join(f"o{number} = tf.keras.optimizers.Adam(lr=0.1)\n" for number in range(201))
    (tmp_path / "many.py").write_text(f"import tensorflow as tf\n{calls}")
    (tmp_path / "few.py").write_text("import tensorflow as tf\no = tf.keras.optimizers.Adam(lr=0.1)\n")
    done = cfgfix("check", ".", "many.yaml", "--output-format", "json")
    said = {}
    for file in json.loads(done.out)["files"]:
        for finding in file["findings"]:
            for note in finding["notes"]:
                if note.startswith("there are more of this rule"):
                    said.setdefault(file["path"], []).append((finding["location"]["line"], note))
    assert said == {
        "many.py": [(201, "there are more of this rule in the file: 200 are listed")],
        "many.yaml": [(MAX_FINDINGS + 4, "there are more of this rule in the file: 1,000 are listed")],
    }
