"""The dialects that ship: what they claim, what they leave alone, and that their pages and rules agree with them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml

from cfgfix.config.dialects.derived import DERIVED
from cfgfix.config.dialects.detect import detect
from cfgfix.config.dialects.dialect import dialects
from cfgfix.config.document.compose import compose
from cfgfix.core.source_file import SourceFile
from cfgfix.rules.reader import read_rule

FOREIGN = {
    "a workflow": "on: push\njobs:\n  build: {runs-on: ubuntu-latest, steps: [{run: make}]}\n",
    "a compose file": "services:\n  web: {image: nginx}\nbatch_size: 3\nepochs: 1\n",
    "a Kubernetes object": "apiVersion: v1\nkind: ConfigMap\ndata: {batch_size: '3', epochs: '1'}\n",
    "a pre-commit config": "repos: [{repo: local, hooks: []}]\n",
    "a log shipper": "output: {batch_size: 100}\n",
    "a batch size alone": "batch_size: 100\nflush_interval: 5s\n",
    "a PyTorch Lightning config": "trainer: {accelerator: gpu, max_epochs: 3}\ndata: {batch_size: 8}\nmodel: {learning_rate: 0.1}\n",
    "a fine-tuning config": "base_model: x\nlora_r: 8\nlearning_rate: 0.1\nbatch_size: 2\n",
    "a list": "[1, 2]\n",
    "nothing": "",
}


def name_of(text: str) -> str | None:
    document = compose(SourceFile.from_bytes(text.encode(), "x.yaml"))
    for root in document.roots:
        found = detect(root, dialects().values())
        if found is not None:
            return found.name
    return None


@pytest.mark.parametrize("name", FOREIGN)
def test_yaml_of_other_tools_is_left_alone(name: str) -> None:
    assert name_of(FOREIGN[name]) is None


def test_a_speech_config_is_myxtts() -> None:
    text = (
        "model: {decoder_dim: 8}\ndata: {num_workers: 2, add_blank: true}\ntraining: {mel_loss_weight: 2.5}\n"
    )
    assert name_of(text) == "myxtts"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("var_freeze_expr: x\nmoving_average_decay: 0\n", "automl-efficientdet"),
        ("version: 1.1\nkind: operation\nparams: {epochs: {value: 1}}\nurlRef: x\n", "polyaxon"),
        ("apiVersion: v1\nkind: TFJob\nspec: {replicaSpecs: [{template: {}}]}\n", "kubeflow"),
        (
            "batch_size: 8\nepochs: 3\nloss: mse\noptimizer: adam\nvalidation_split: 0.1\nlearning_rate: 0.1\n",
            "keras-flat",
        ),
    ],
)
def test_a_few_keys_tell_a_family(text: str, name: str) -> None:
    assert name_of(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "batch_size: 8\nepochs: 3\n",
        "data: {batch_size: 8}\ntraining: {learning_rate: 0.1}\n",
        "train: {batch_size: 8, optimizer: adam}\n",
    ],
)
def test_common_spellings_are_generic_and_never_sure(text: str) -> None:
    assert name_of(text) == "generic"
    assert dialects()["generic"].confidence == "low"


@pytest.mark.acceptance
def test_myxtts_claims_its_configs_and_no_other(shared_path: Path) -> None:
    root = shared_path / "corpus" / "configs"
    wrong: list[str] = []
    for path in sorted(root.rglob("*.y*ml")):
        try:
            source = SourceFile.from_bytes(path.read_bytes(), str(path))
        except Exception:  # noqa: BLE001 - what cannot be read is not claimed either
            continue
        document = compose(source)
        if document.problem is not None or not document.roots:
            continue
        found = detect(document.roots[0], dialects().values())
        name = found.name if found is not None else None
        mine = "MyXTTSModel" in str(path) and path.name != "benchmark_config.yaml"
        if mine is not (name == "myxtts"):
            wrong.append(f"{path}: {name}")
    assert wrong == []


def test_the_first_key_of_a_concept_gives_its_own_type() -> None:
    dialect = dialects()["myxtts"]
    assert dialect.concept_of(("data", "pipeline_buffer_size")) == "pipeline_buffer"
    assert dialect.concept_of(("data", "prefetch_buffer_size")) == "prefetch"
    assert dialect.concept_of(("training", "enable_xla_compilation")) == "xla"


def documented(root: Path) -> set[str]:
    text = (root / "docs" / "concepts.md").read_text(encoding="utf-8")
    names: set[str] = set()
    for line in text.splitlines():
        if line.startswith("| `"):
            names |= set(re.findall(r"`(\w+)`", line.split("|")[1]))
    return names


def test_every_concept_fact_and_derived_value_is_documented(repo_root: Path) -> None:
    names = documented(repo_root)
    used = set(DERIVED)
    for dialect in dialects().values():
        used |= set(dialect.concepts) | (set(dialect.facts) - {"values"})
    assert sorted(used - names) == []


def test_rules_ask_only_for_operands_that_exist(repo_root: Path) -> None:
    from cfgfix.hardware.model import is_name
    from cfgfix.rules.catalogue import read_folder

    known = documented(repo_root) | {
        "value",
        "key",
        "name",
        "raw",
        "section",
        "concept",
        "comment",
        "by_code",
    }
    wrong: list[str] = []
    for family in ("config", "hardware", "cluster"):
        for rule in read_folder(str(repo_root / "rules" / family)):
            data = read_rule(rule.path)
            asked = set(rule.operands) - set(data.get("let") or {})
            for name in sorted(asked):
                if name.startswith("hardware."):
                    good = is_name(name.removeprefix("hardware."))
                else:
                    good = name in known
                if not good:
                    wrong.append(f"{rule.id}: {name}")
            for place in (*rule.at, *(rule.each.concepts if rule.each else ())):
                if place not in known:
                    wrong.append(f"{rule.id}: at {place}")
    assert wrong == []


def test_evidence_scripts_exist(repo_root: Path) -> None:
    missing = set()
    for family in ("config", "hardware", "cluster"):
        for path in sorted((repo_root / "rules" / family).glob("*.yaml")):
            for item in yaml.safe_load(path.read_text(encoding="utf-8"))["evidence"]:
                script = item.get("measured")
                if script and not (repo_root / script).is_file():
                    missing.add(script)
    assert sorted(missing) == []


def test_the_example_configs_are_what_they_say(repo_root: Path, tmp_path: Path) -> None:
    from cfgfix.lint.runner import Request, check
    from cfgfix.settings.reader import Settings

    shutil.copytree(repo_root / "configs", tmp_path / "configs")
    settings = Settings(root=str(tmp_path), hardware="rtx4090,cpus=16,ram=64")

    def rules_in(name: str) -> set[str]:
        report = check(Request(paths=(str(tmp_path / "configs" / name),), settings=settings))
        assert not report.errors
        return {finding.rule for finding in report.findings()}

    assert rules_in("clean.yaml") == set()
    expected = {"HWR001", "HWR004", "HWR005", "HWR022", "CFG006", "CFG013", "CFG015", "CFG024", "CFG025"}
    assert expected <= rules_in("speech.yaml")


STRANGE = [
    "null",
    "true",
    "-1",
    "0",
    "1",
    "1.5",
    ".nan",
    "-.inf",
    "1e9",
    "'8'",
    "[]",
    "[1, two]",
    "{a: 1}",
    "''",
    "9" * 400,
    "*x",
]


@pytest.mark.parametrize("dialect", ["myxtts", "generic"])
@pytest.mark.parametrize("strange", STRANGE)
def test_no_value_upsets_a_rule(
    dialect: str, strange: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    from cfgfix.lint.runner import Request, check
    from cfgfix.settings.reader import Settings

    tree: dict[str, dict[str, str]] = {}
    for patterns in dialects()[dialect].concepts.values():
        for pattern in patterns:
            if len(pattern) == 2 and all(isinstance(step, str) for step in pattern):
                tree.setdefault(str(pattern[0]), {})[str(pattern[1])] = strange
    lines = ["anchor: &x 3"]
    for section, keys in tree.items():
        lines += [f"{section}:", *(f"  {key}: {value}" for key, value in keys.items())]
    settings = Settings(dialect=dialect, hardware="rtx4090x2,cpus=16,ram=64")
    report = check(Request(settings=settings, stdin="\n".join(lines).encode(), stdin_name="strange.yaml"))
    assert not report.errors
    assert all(finding.message for finding in report.findings())
