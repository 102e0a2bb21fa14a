"""What MkDocs calls while it builds the site: adds the pages that are made, and the links between the repository's files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import make_docs


def on_config(config: Any) -> Any:
    """Put the rules into the navigation."""
    for entry in config.nav:
        if "Rules" in entry:
            entry["Rules"] = make_docs.navigation()
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made."""
    from mkdocs.structure.files import File

    for name, text in make_docs.pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links out of docs/ lead to the pages that show those files."""
    if page.file.generated_by is not None:
        return markdown
    return make_docs.relinked(markdown, f"docs/{page.file.src_uri}", make_docs.sources())
