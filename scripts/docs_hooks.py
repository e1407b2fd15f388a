"""Hooks of the documentation build: pages whose files lie outside docs/.

Their links, and links to them, are those that work in the repository. In the site they are pages at
the top: `../CHANGELOG.md` of a page in docs/ becomes `CHANGELOG.md`, and `docs/design.md` of the
contributing guide becomes `design.md`.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_OUTSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples/flights/README.md")
_TO_OUTSIDE = re.compile(r"(\]\()(?:\.\./)+(?=(?:" + "|".join(map(re.escape, _OUTSIDE)) + r")\b)")
_TO_DOCS = re.compile(r"(\]\()docs/")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    root = Path(config.config_file_path).parent
    for name in _OUTSIDE:
        files.append(File.generated(config, name, abs_src_path=str(root / name)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_context: object) -> str:
    if page.file.src_uri in _OUTSIDE:
        return _TO_DOCS.sub(r"\1", markdown)
    return _TO_OUTSIDE.sub(r"\1", markdown)
