"""A YAML file of several documents, of which the reader takes some by place, by turns or by what they say."""

from pathlib import Path

import pytest
from test_followed_idioms import HEAD, told

from cfgfix.core.edits import RenameKey
from cfgfix.usage.project_code import ProjectCode

BOATS = """
name: hull
planks: 12
nails: 3
---
name: sail
cloth: 7
ropse: 4
---
name: crew
"""
TAKES = {
    "by place": "hull, sail, crew = list(yaml.safe_load_all(open('boats.yaml')))\n",
    "by index": "all_of = list(yaml.load_all(open('boats.yaml'), Loader=yaml.SafeLoader))\n"
    "hull, sail, crew = all_of[0], all_of[1], all_of[-1]\n",
    "by a table": "parts = {part['name']: part for part in yaml.safe_load_all(open('boats.yaml'))}\n"
    "hull, sail, crew = parts['hull'], parts['sail'], parts['crew']\n",
    "by turns": "for part in yaml.safe_load_all(open('boats.yaml')):\n    if part['name'] == 'hull':\n        hull = part\n"
    "    elif part['name'] == 'sail':\n        sail = part\n    elif part['name'] == 'crew':\n        crew = part\n",
}
USE = "tf.keras.layers.Dense(hull['planks'])\ntf.keras.layers.Dense(sail['cloth'] + sail['ropes'])\nprint(crew['name'])\n"


@pytest.mark.parametrize("take", TAKES.values(), ids=list(TAKES))
def test_each_document_is_judged_for_itself(tmp_path: Path, take: str) -> None:
    found = told(tmp_path, {"sail.py": HEAD + take + USE, "boats.yaml": BOATS})["boats.yaml"]
    assert ("dead-key", "nails") in found
    assert ("misspelt-key", "ropse") in found
    assert {key for _, key in found} <= {"nails", "ropse", "name"}


def test_a_text_takes_the_keys_that_it_names(tmp_path: Path) -> None:
    text = (
        TAKES["by place"]
        + "tf.keras.layers.Dense(hull['planks'])\nprint('{nails} nails: {n}'.format(n=3, **hull))\n"
    )
    text += "tf.keras.layers.Dense(sail['cloth'] + sail['ropse'])\nprint(hull['name'], sail['name'], crew['name'])\n"
    found = told(tmp_path, {"sail.py": HEAD + text, "boats.yaml": BOATS})["boats.yaml"]
    assert [item for item in found if item[1] != "name"] == []


def test_a_repair_goes_to_the_document_of_its_key(tmp_path: Path) -> None:
    (tmp_path / "sail.py").write_text(HEAD + TAKES["by place"] + USE, encoding="utf-8")
    (tmp_path / "boats.yaml").write_text(BOATS, encoding="utf-8")
    says = ProjectCode(str(tmp_path), lambda _path: False, keep=False).all()["boats.yaml"]
    changes = [change for _, hit in says.hits for change in hit.changes]
    assert changes == [RenameKey(("ropse",), "ropes", document=1)]


def test_a_document_that_nothing_takes_is_left_alone(tmp_path: Path) -> None:
    text = "first, *_ = yaml.safe_load_all(open('boats.yaml'))\ntf.keras.layers.Dense(first['planks'] * first['nails'])\n"
    text += "print(first['name'])\n"
    found = told(tmp_path, {"sail.py": HEAD + text, "boats.yaml": BOATS})["boats.yaml"]
    assert [item for item in found if item[1] != "name"] == []
