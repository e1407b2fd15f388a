"""Writes every text that users read into one file, for a review without the code.

    .venv/bin/python -m scripts.words .cache/words.txt

Each file with texts has a section: its path, then a line for each text, in order and without
repetition. The line begins with the kind of the text (`text.py`).
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from scripts.words.prose_texts import document_texts, form_texts, makefile_texts, shell_texts
from scripts.words.python_texts import (
    config_texts,
    fault_texts,
    module_texts,
    python_texts,
    reference_texts,
)
from scripts.words.text import Text, section

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
DOCUMENTS = (*PAGES, "docs", "examples", ".github")
FORMS = ("mkdocs.yml", ".github")
# A page of the API reference names a module, and the names in it that are documented.
REFERENCE = "docs/api"
CONFIGS = "src/ottla/configs/documentation/"
FAULTS = "src/ottla/simulation/faults/"
MESSAGES = "src/ottla/wire/messages/"
# They write code: of their strings only those of errors are texts.
GENERATORS = ("src/ottla/wire/schema/", "scripts/declare_messages.py", "scripts/release_steps/")
# Made from the texts in CONFIGS.
GENERATED = "docs/configs.md"


def main(target: Path) -> None:
    found = {path.relative_to(ROOT).as_posix(): path for path in _files()}
    pages = [Page.read(path.read_text()) for path in sorted((ROOT / REFERENCE).glob("*.md"))]
    texts = {name: texts_of(name, path.read_text(), pages) for name, path in found.items()}
    sections = [section(name, each) for name, each in texts.items()]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(sections))
    kinds = Counter(re.findall(r"^([a-z]+) ", "".join(sections), re.M))
    for kind, count in kinds.most_common():
        print(f"{count:6} {kind}")
    print(f"Written: {target}")


class Page(NamedTuple):
    """A page of the API reference: the folder of the module's source, and the documented names."""

    folder: str
    names: frozenset[str]

    @classmethod
    def read(cls, markdown: str) -> Self:
        module = re.findall(r"^::: ([\w.]+)$", markdown, re.M)[0]
        names = re.findall(r"^ +- (\w+)$", markdown, re.M)
        return cls("src/" + module.replace(".", "/") + "/", frozenset(names))


def texts_of(name: str, content: str, pages: Sequence[Page] = ()) -> list[Text]:
    """What users read of the file of this name in the repository."""
    if name.endswith(".md"):
        return document_texts(content)
    if name.endswith((".yml", ".yaml")):
        return form_texts(content)
    if name == "Makefile":
        return makefile_texts(content)
    if name.startswith("scripts/") and not name.endswith(".py"):
        return shell_texts(content)
    if name.startswith(CONFIGS):
        return config_texts(content)
    texts = python_texts(content)
    if name.startswith(GENERATORS):
        texts = [each for each in texts if each.kind == "error"]
    if name.startswith(("scripts/", "benchmarks/")):
        return [Text("make", each.words) for each in texts if each.kind not in ("text", "log")]
    is_of_faults = name.startswith(FAULTS) and name.endswith("faults.py")
    documented = [each for page in pages for each in _texts_of_page(page, name, content)]
    return [*documented, *(fault_texts(content) if is_of_faults else ()), *texts]


def _texts_of_page(page: Page, name: str, content: str) -> list[Text]:
    if not name.startswith(page.folder):
        return []
    of_module = module_texts(content) if name == page.folder + "__init__.py" else []
    return [*of_module, *reference_texts(content, page.names)]


def _below(names: Sequence[str], suffix: str) -> Iterator[Path]:
    """The files of these names, and those with the suffix in the folders of these names."""
    for name in names:
        yield from [ROOT / name] if name.endswith(suffix) else (ROOT / name).rglob("*" + suffix)


def _files() -> list[Path]:
    documents = _below(DOCUMENTS, ".md")
    forms = _below(FORMS, ".yml")
    scripts = [file for file in (ROOT / "scripts").rglob("*") if file.is_file()]
    folders = ("src", "examples", "benchmarks")
    sources = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    chosen = [file for file in (*scripts, *sources) if "__pycache__" not in file.parts]
    names = [*sorted(documents), *sorted(forms), ROOT / "Makefile", *sorted(chosen)]
    left_out = (GENERATED, MESSAGES)
    return [file for file in names if not file.relative_to(ROOT).as_posix().startswith(left_out)]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
