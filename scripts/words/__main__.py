"""Writes every text that users read into one file, for a review without the code.

    .venv/bin/python -m scripts.words .cache/words.txt

Each file with texts has a section: its path, then a line for each text, in order and without
repetition. The line begins with the kind of the text (`text.py`).
"""

import re
import sys
from collections import Counter
from pathlib import Path

from scripts.words.prose_texts import document_texts, makefile_texts, shell_texts
from scripts.words.python_texts import config_texts, fault_texts, python_texts
from scripts.words.text import Text, section

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "examples")
CONFIGS = "src/ottla/configs/documentation/"
FAULTS = "src/ottla/simulation/faults/"
MESSAGES = "src/ottla/wire/messages/"
# They write code: of their strings only those of errors are texts.
GENERATORS = ("src/ottla/wire/schema/", "scripts/declare_messages.py", "scripts/release_steps/")
# Made from the texts in CONFIGS.
GENERATED = "docs/configs.md"


def main(target: Path) -> None:
    found = {path.relative_to(ROOT).as_posix(): path for path in _files()}
    texts = {name: texts_of(name, path.read_text()) for name, path in found.items()}
    sections = [section(name, each) for name, each in texts.items()]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(sections))
    kinds = Counter(re.findall(r"^([a-z]+) ", "".join(sections), re.M))
    for kind, count in kinds.most_common():
        print(f"{count:6} {kind}")
    print(f"Written: {target}")


def texts_of(name: str, content: str) -> list[Text]:
    """What users read of the file of this name in the repository."""
    if name.endswith(".md"):
        return document_texts(content)
    if name == "Makefile":
        return makefile_texts(content)
    if name.startswith("scripts/") and not name.endswith(".py"):
        return shell_texts(content)
    if name.startswith(CONFIGS):
        return config_texts(content)
    texts = python_texts(content)
    if name.startswith(GENERATORS):
        texts = [each for each in texts if each.kind == "error"]
    if name.startswith("scripts/"):
        return [Text("make", each.words) for each in texts if each.kind not in ("text", "log")]
    is_of_faults = name.startswith(FAULTS) and name.endswith("faults.py")
    return [*fault_texts(content), *texts] if is_of_faults else texts


def _files() -> list[Path]:
    documents = [
        file
        for name in DOCUMENTS
        for file in ([ROOT / name] if name.endswith(".md") else (ROOT / name).rglob("*.md"))
    ]
    scripts = [file for file in (ROOT / "scripts").rglob("*") if file.is_file()]
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "examples").rglob("*.py")]
    chosen = [file for file in (*scripts, *sources) if "__pycache__" not in file.parts]
    names = [*sorted(documents), ROOT / "Makefile", *sorted(chosen)]
    left_out = (GENERATED, MESSAGES)
    return [file for file in names if not file.relative_to(ROOT).as_posix().startswith(left_out)]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
