"""What the checks say of real training configs, with the loader each family uses and no schema."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from pitfall_support import make_context

from cfgfix.config.dialects.dialect import dialects
from cfgfix.config.document.compose import Document, compose
from cfgfix.config.document.language import Yaml
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.values import CHECKS, scan
from cfgfix.core.findings import Finding
from cfgfix.core.fix_loop import fix_file
from cfgfix.core.source_file import read_source
from cfgfix.lint.case_trial import trial_project
from cfgfix.lint.project import Target
from cfgfix.lint.project_findings import findings_in_config
from cfgfix.rules.catalogue import read_folder

pytestmark = [pytest.mark.acceptance, pytest.mark.slow]

LOADER_OF = {
    "model-garden": "model-garden",
    "tpu-paramsdict": "model-garden",
    "transformertts": "ruamel",
    "dnn-reco": "ruamel",
    "determined": "ruamel",
    "dlio": "omegaconf",
}

EXPECTED = {
    "float_without_dot_is_str": 184,
    "yaml11_bool_word": 1422,
    "unsafe_python_tag": 16,
    "duplicate_key": 3,
}
"""Read one by one: the bool words are all of one project and only information; nothing else is a false alarm."""


def test_findings_over_the_corpus_are_those_that_were_read(shared_path: Path) -> None:
    corpus = shared_path / "corpus"
    counts: Counter[str] = Counter()
    families: dict[str, set[str]] = {}
    with (corpus / "INDEX.tsv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            source = read_source(str(corpus / "configs" / row["repo"] / row["path"]))
            loader = LOADER_OF.get(row["family"], "pyyaml")
            for name, hits in scan(make_context(source.text, loader), CHECKS).items():
                counts[name] += len(hits)
                if hits:
                    families.setdefault(name, set()).add(row["family"])
    assert {name: count for name, count in counts.items() if count} == EXPECTED
    assert families["yaml11_bool_word"] == {"particleflow-mlpf"}
    assert not families["float_without_dot_is_str"] & {
        "transformertts",
        "determined",
        "dnn-reco",
        "model-garden",
    }


def test_every_fix_over_the_corpus_is_proven(shared_path: Path, repo_root: Path) -> None:
    rules = read_folder(str(repo_root / "rules" / "yaml"))
    project = trial_project(rules)
    dialect = dialects()["generic"]
    corpus = shared_path / "corpus"
    applied: Counter[str] = Counter()
    with (corpus / "INDEX.tsv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            source = read_source(str(corpus / "configs" / row["repo"] / row["path"]))
            target = Target(dialect, LOADERS[LOADER_OF.get(row["family"], "pyyaml")], None, None, None)

            def check(document: Document, target: Target = target) -> list[Finding]:
                return findings_in_config(project, document, target).findings

            if not check(compose(source)):
                continue
            language = Yaml(compose(source), target.loader)
            outcome = fix_file(source.path, source.text, check, language, unsafe=True)
            assert not outcome.refused, row["path"]
            assert not outcome.cycles, row["path"]
            assert not [finding for finding in outcome.findings[source.path] if finding.fix is not None], row[
                "path"
            ]
            applied.update(item.finding.name for item in outcome.applied.get(source.path, ()))
    assert applied == {
        name.replace("_", "-"): count for name, count in EXPECTED.items() if name != "unsafe_python_tag"
    }
