from __future__ import annotations

import json

import jsonschema
import pytest

from cfgfix.config.dialects.dialect import dialects
from cfgfix.config.dialects.meanings import MEANINGS


@pytest.mark.parametrize("name", sorted(dialects()))
def test_every_dialect_has_a_schema_with_descriptions(name):
    from cfgfix.config.schema.publish import published

    data = published(dialects()[name])
    jsonschema.validators.validator_for(data).check_schema(data)
    assert data["title"]
    assert '"description"' in json.dumps(data.get("properties", data))


def test_concepts_have_meanings():
    """A new concept gets its meaning here soon after its row in docs/concepts.md."""
    used = {concept for dialect in dialects().values() for concept in dialect.concepts}
    assert sorted(set(MEANINGS) - used) == []
    assert len(used - set(MEANINGS)) <= 0.1 * len(used), sorted(used - set(MEANINGS))


def test_a_made_schema_describes_and_refuses_nothing():
    from cfgfix.config.schema.publish import published

    data = published(dialects()["rasa"])
    batch = data["properties"]["pipeline"]["items"]["properties"]["batch_size"]
    assert batch["description"] == "Samples in a training batch"
    jsonschema.validate({"pipeline": [{"batch_size": "x", "more": 1}], "other": 2}, data)


def test_it_prints_what_is_asked_for(cfgfix, tmp_path):
    own = json.loads(cfgfix("schema", "--dialect", "myxtts").out)
    learning = own["properties"]["training"]["properties"]["learning_rate"]
    assert learning["description"]
    assert isinstance(learning["default"], float)
    told = cfgfix("schema", "--settings", "-o", "settings.json")
    assert (told.code, told.out) == (0, "")
    data = json.loads((tmp_path / "settings.json").read_text())
    assert "YML001" in json.dumps(data["definitions"]["rule"])
    (tmp_path / "own.json").write_text('{"type": "object", "title": "mine"}')
    (tmp_path / "cfgfix.toml").write_text("schema = 'own.json'\n")
    assert json.loads(cfgfix("schema").out)["title"] == "mine"


def test_mistakes_are_told(cfgfix, tmp_path):
    wrong = cfgfix("schema", "--dialect", "myxts")
    assert (wrong.code, "did you mean 'myxtts'?" in wrong.err) == (2, True)
    assert "--dialect NAME" in cfgfix("schema").err
    assert cfgfix("schema", "--dialect", "myxtts", "-o", "absent/x.json").code == 3


def test_a_dialect_of_the_project_has_one_too(cfgfix, config, tmp_path):
    config(
        "name: mine\ntitle: Mine\ndetect: {all: [[net]], any: [net.size]}\nconcepts: {batch_size: [net.size]}\n",
        "dialects/mine/dialect.yaml",
    )
    config("dialects = ['dialects']\n", "cfgfix.toml")
    data = json.loads(cfgfix("schema", "--dialect", "mine").out)
    assert data["properties"]["net"]["properties"]["size"]["description"] == "Samples in a training batch"
