"""Write docs/settings.md and docs/settings.schema.json from the settings' reader: `python tools/settings.py`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from cfgfix.settings.schema import page, schema  # noqa: E402 - the checkout comes first


def files() -> dict[Path, str]:
    """Return the generated files with what they must hold."""
    return {
        ROOT / "docs" / "settings.md": page(),
        ROOT / "docs" / "settings.schema.json": json.dumps(schema(names=False), indent=2, ensure_ascii=False)
        + "\n",
    }


def main() -> None:
    """Write the files that are not current."""
    for path, text in files().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
