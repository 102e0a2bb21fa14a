import json
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def settings(path):
    """The settings; what was used is kept beside the run, if the run ends well."""
    cfg = json.loads(Path(path).read_bytes())
    yield cfg
    (Path(cfg["out_dir"]) / "used.json").write_text(json.dumps(cfg, indent=1))
