"""The reason for which an unknown key is left agrees with what its message suggests."""

from __future__ import annotations

import pytest

from cfgfix.config.document.compose import compose
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.config.schema.validate import Schema
from cfgfix.core.source_file import SourceFile

PART = {"type": "object", "additionalProperties": False}
SCHEMA = {
    **PART,
    "properties": {
        "data": {**PART, "properties": {"batch_size": {"type": "integer"}, "workers": {"type": "integer"}}},
        "eval": {**PART, "properties": {"workers": {"type": "integer"}}},
        "training": {**PART, "properties": {"epochs": {"type": "integer"}, "rate": {"type": "number"}}},
    },
}


@pytest.mark.parametrize(
    ("text", "message", "reason"),
    [
        (
            "data: {batch_size: 1, batch_sise: 2}\n",
            "did you mean `batch_size`?",
            "`batch_size` is set already",
        ),
        ("training: {epochz: many}\n", "did you mean `epochs`?", "the value does not fit `epochs`"),
        (
            "data: {batch_size: 1}\ntraining: {batch_size: 2}\n",
            "`data.batch_size`",
            "`data.batch_size` is set already",
        ),
        (
            "data: {batch_size: 1}\ntraining: {workers: 2}\n",
            "`eval.workers`",
            "nothing tells which of the places is meant",
        ),
        (
            "data: {quux: 1}\n",
            "has no key `quux`",
            None,
        ),
    ],
)
def test_the_reason_agrees_with_the_message(text, message, reason):
    document = compose(SourceFile.from_bytes(text.encode(), "train.yaml"))
    schema = Schema.load(SCHEMA, "schema")
    found = [
        item
        for item in schema.problems(document, document.roots[0], LOADERS["pyyaml"])
        if item.code == "unknown-key"
    ]
    assert len(found) == 1
    assert message in found[0].message
    assert found[0].changes == ()
    assert found[0].no_fix == reason
