"""`explain` and `recommend` speak of the keys that a project has, in whichever format and under whatever names."""

from __future__ import annotations

import json

import pytest
import yaml

CODE = (
    "import numpy as np\nimport tensorflow as tf\n{load}\n"
    "x = np.zeros((64, 3), 'float32')\n"
    "net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(kiln['glaze']['coats'])])\n"
    "net.compile('adam', 'mse')\n"
    "net.fit(x, x, batch_size={number}(kiln['fire']['trays']), epochs={number}(kiln['fire']['hours']))\n"
)
LOADS = {
    "toml": "import tomllib\nkiln = tomllib.load(open('kiln.toml', 'rb'))",
    "json": "import json\nkiln = json.load(open('kiln.json'))",
    "yaml": "import yaml\nkiln = yaml.safe_load(open('kiln.yaml'))",
    "several.yaml": "import yaml\nshop, kiln = yaml.safe_load_all(open('kiln.several.yaml'))",
}
TEXTS = {
    "toml": "[glaze]\ncoats = 3\n[fire]\ntrays = 16\nhours = 2\n",
    "json": '{"glaze": {"coats": 3},\n "fire": {\n  "trays": 16,\n  "hours": 2}}\n',
    "yaml": "glaze: {coats: 3}\nfire:\n  trays: 16\n  hours: 2\n",
    "several.yaml": "name: clay\n---\nglaze: {coats: 3}\nfire:\n  trays: 16\n  hours: 2\n",
}


@pytest.fixture
def kiln(tmp_path):
    def write(form, text=None):
        (tmp_path / ".git").mkdir()
        (tmp_path / "bake.py").write_text(CODE.format(load=LOADS[form], number=""))
        (tmp_path / f"kiln.{form}").write_text(text or TEXTS[form])
        return f"kiln.{form}"

    return write


@pytest.mark.parametrize("form", LOADS)
def test_a_key_of_any_format_is_told_by_the_call_that_it_reaches(cfgfix, kiln, tmp_path, form):
    path = kiln(form)
    lines = cfgfix("explain", "trays", cwd=tmp_path).out.splitlines()
    number = next(n for n, line in enumerate(TEXTS[form].splitlines(), 1) if "trays" in line)
    assert lines[0] == "trays: the concept batch_size"
    assert lines[3] == f"  {path}:{number}: fire.trays is 16"
    assert lines[4].startswith("    reaches Model.fit(batch_size) in bake.py:")
    page = cfgfix("explain", path, cwd=tmp_path).out
    assert page.splitlines()[0] == f"{path}: a config of bake.py"
    assert "fire.hours   " in page
    assert "reaches Model.fit(epochs)" in page
    if form in ("toml", "json"):
        assert f"  read by {form}" in page.splitlines()


@pytest.mark.parametrize("form", ["toml", "json", "yaml"])
def test_what_is_recommended_is_of_the_config_that_the_code_opens(cfgfix, kiln, tmp_path, form):
    path = kiln(form)
    for words in ((), (path,)):
        done = cfgfix("recommend", *words, "--hardware", "t4,cpus=4,ram=16", cwd=tmp_path)
        assert done.code == 0
        assert yaml.safe_load(done.out) is None
        assert "fire.trays is left out" in done.out
        assert f"keys and sizes of {path}" in " ".join(done.out.replace("#", "").split())


def test_a_misspelt_key_is_not_told_to_be_read(cfgfix, kiln, tmp_path):
    path = kiln("yaml", "glaze: {coats: 3}\nfire:\n  tarys: 16\n  hours: 2\n")
    page = cfgfix("explain", path, cwd=tmp_path).out
    assert "error REF016: bake.py:" in page
    read, _, asked = page.partition("asked for and not there")
    assert "fire.tarys  " not in read
    assert "fire.trays" in asked
    facts = json.loads(cfgfix("explain", path, "--json", cwd=tmp_path).out)
    assert "fire.tarys" not in facts["read"]
    assert facts["reaches"]["glaze.coats"].startswith("reaches layers.Dense(units) in bake.py:")
    assert [text.split(": ")[0] for text in facts["found"]] == ["3"]
    assert "fire.trays: asked for in bake.py:" in cfgfix("explain", "trays", cwd=tmp_path).out


def test_a_name_near_one_of_the_project_s_gets_that(cfgfix, kiln, tmp_path):
    kiln("yaml")
    done = cfgfix("explain", "traays", cwd=tmp_path)
    assert done.code == 2
    assert "did you mean 'trays'?" in done.err


def test_a_config_that_has_nothing_for_a_machine_is_passed_over(cfgfix, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "aims.yaml").write_text("width: 4\npace: 0.1\nrounds: 3\n")
    (tmp_path / "feed.yaml").write_text("hands: 64\n")
    (tmp_path / "run.py").write_text(
        "import tensorflow as tf\nimport yaml\naims = yaml.safe_load(open('aims.yaml'))\n"
        "feed = yaml.safe_load(open('feed.yaml'))\n"
        "data = tf.data.Dataset.range(9).map(lambda i: i, num_parallel_calls=feed['hands'])\n"
        "tf.keras.layers.Dense(aims['width'])\ntf.keras.optimizers.Adam(aims['pace'])\nprint(aims['rounds'])\n"
    )
    done = cfgfix("recommend", "--hardware", "t4,cpus=4,ram=16", cwd=tmp_path)
    assert yaml.safe_load(done.out) == {"hands": 4}
    alone = cfgfix("recommend", "aims.yaml", "--hardware", "t4,cpus=4,ram=16", cwd=tmp_path)
    assert alone.code == 2
    assert "aims.yaml: no key of it reaches a setting that depends on a machine" in alone.err


def test_code_without_a_config_is_told_that_no_key_is_one_of_its_own(cfgfix, tmp_path):
    (tmp_path / "run.py").write_text("import tensorflow as tf\nprint(tf.data.Dataset.range(3).batch(2))\n")
    done = cfgfix("recommend", "--hardware", "t4,cpus=4,ram=16", cwd=tmp_path)
    heading = " ".join(line.lstrip("# ") for line in done.out.splitlines()[:4])
    assert "the code here opens no config that is known" in heading


def test_the_job_that_runs_the_program_is_the_machine(cfgfix, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "feed.yaml").write_text("hands: 64\n")
    (tmp_path / "run.py").write_text(
        "import tensorflow as tf\nimport yaml\nfeed = yaml.safe_load(open('feed.yaml'))\n"
        "data = tf.data.Dataset.range(9).map(lambda i: i, num_parallel_calls=feed['hands'])\n"
    )
    (tmp_path / "go.sh").write_text("#!/bin/bash\n#SBATCH -c 6 --gres=gpu:t4:1\npython run.py\n")
    done = cfgfix("recommend", cwd=tmp_path)
    assert yaml.safe_load(done.out) == {"hands": 6}
    heading = " ".join(line.lstrip("# ") for line in done.out.splitlines()[:4])
    assert "the limits of a Slurm job in go.sh:2 (Tesla T4, 6 CPUs)" in heading
    page = " ".join(cfgfix("explain", "hands", cwd=tmp_path).out.split())
    assert "cfgfix recommends for a Slurm job in go.sh:2, in the keys of feed.yaml hands: 6" in page
    named = cfgfix("recommend", "--hardware", "t4,cpus=3,ram=16", cwd=tmp_path)
    assert yaml.safe_load(named.out) == {"hands": 3}
