"""Values of configs that threads and processes get through queues."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

CONFIG = "goats: 4\npen:\n  gates: 2\n  lock: 3\n"
USES = "tf.keras.layers.Dense(farm['goats'] + farm['pen']['gate'])"
WAYS = {
    "until None comes": f"""
def milk(jobs):
    while (job := jobs.get()) is not None:
        name, farm = job
        {USES}


jobs = queue.Queue()
worker = threading.Thread(target=milk, args=(jobs,))
worker.start()
for name in ("dawn", "dusk"):
    jobs.put((name, farm))
jobs.put(None)
worker.join()
""",
    "without end, in a process": f"""
def milk(jobs, done):
    while True:
        farm = jobs.get(timeout=3)
        {USES}
        done.put(farm["goats"])


jobs, done = multiprocessing.Queue(), multiprocessing.Queue()
multiprocessing.Process(target=milk, args=(jobs, done), daemon=True).start()
jobs.put(farm)
print(done.get())
""",
    "by an iterator, through an object": f"""
class Milker:
    def __init__(self, jobs):
        self.jobs = jobs

    def run(self):
        for farm in iter(self.jobs.get, None):
            {USES}


jobs = queue.SimpleQueue()
jobs.put_nowait(farm)
jobs.put_nowait(None)
threading.Thread(target=Milker(jobs).run).start()
""",
}
SILENT = {
    "all that is read": """
def milk(jobs):
    farm = jobs.get()
    tf.keras.layers.Dense(farm["goats"] + farm["pen"]["gates"] + farm["pen"]["lock"])


jobs = queue.LifoQueue()
threading.Thread(target=milk, args=(jobs,)).start()
jobs.put(farm)
jobs.join()
""",
    "code that is not known takes it": """
jobs = queue.Queue()
elsewhere.start(jobs)
jobs.put(farm)
tf.keras.layers.Dense(farm["goats"])
""",
    "what the code puts there beside it": """
def milk(jobs, farm):
    for _ in range(2):
        name = jobs.get()
        tf.keras.layers.Dense(farm["goats"], name=name)
    tf.keras.layers.Dense(farm["pen"]["gates"] + farm["pen"]["lock"])


jobs = queue.Queue()
threading.Thread(target=milk, args=(jobs, farm)).start()
jobs.put("dawn")
jobs.put("dusk")
""",
}


def told(folder: Path, code: str) -> list[tuple[str, str]]:
    """What the program is told of its config: checks with keys."""
    (folder / "farm.yaml").write_text(CONFIG, encoding="utf-8")
    (folder / "train.py").write_text(
        "import multiprocessing\nimport queue\nimport threading\n\nimport elsewhere\nimport tensorflow as tf\nimport yaml\n\n"
        f"with open('farm.yaml') as f:\n    farm = yaml.safe_load(f)\n\n{code}",
        encoding="utf-8",
    )
    says = ProjectCode(str(folder), lambda _path: False, keep=False).all()["farm.yaml"]
    return [(check, ".".join(map(str, hit.at.key_path or ()))) for check, hit in says.hits]


@pytest.mark.parametrize("code", WAYS.values(), ids=WAYS)
def test_a_config_that_a_queue_hands_on(tmp_path: Path, code: str) -> None:
    assert told(tmp_path, code) == [("misspelt-key", "pen.gates"), ("dead-key", "pen.lock")]


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_a_config_that_a_queue_hands_on_and_that_is_right(tmp_path: Path, code: str) -> None:
    assert told(tmp_path, code) == []
