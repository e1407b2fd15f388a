"""What the project installs and runs is known by its hash."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted(ROOT.glob("requirements*.lock"))
SCRIPTS = sorted(
    path
    for path in (ROOT / "Makefile", *(ROOT / ".ci").iterdir(), *(ROOT / "scripts").rglob("*"))
    if path.is_file() and path.suffix not in (".sha256", ".pyc")
)
# Installs without hashes, with the reason.
UNLOCKED = {
    "scripts/setup --no-deps --no-build-isolation --editable .": "it is the project itself",
    'scripts/release_check.py "install", "--quiet", "--disable-pip-version-check", wanted': (
        "it installs the wheel as its users do, who have no lock"
    ),
}
_ENTRY = re.compile(
    r"[A-Za-z0-9._-]+(?:\[[a-z,]+\])?==[^\s;]+(?: ; [^\\]+)?"
    r"(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n"
)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_locked_package_has_its_hashes(lock: Path) -> None:
    text = lock.read_text()
    assert text
    left = _ENTRY.sub("", text)
    assert left == "", f"not a version with hashes: {left[:200]}"


def test_the_locks_are_those_that_are_installed() -> None:
    named = set()
    for script in SCRIPTS:
        named |= set(re.findall(r"-r (requirements[\w-]*\.lock)", script.read_text()))
    assert named == {lock.name for lock in LOCKS}


def test_scripts_install_packages_with_their_hashes_only() -> None:
    installs = [
        f"{script.relative_to(ROOT)} {line.strip()}"
        for script in SCRIPTS
        for line in script.read_text().splitlines()
        if re.search(r"\bpip\b.*\binstall\b", line) and not line.lstrip().startswith("#")
    ]
    assert len(installs) > len(UNLOCKED)
    unlocked = [each for each in installs if "--require-hashes" not in each]
    for each in unlocked:
        name, _, command = each.partition(" ")
        assert any(
            name == known.partition(" ")[0] and known.partition(" ")[2] in command
            for known in UNLOCKED
        ), each
    assert len(unlocked) == len(UNLOCKED)


@pytest.mark.parametrize("name", ["kafka-jars", "connector-jars"])
def test_downloaded_jars_are_used_only_if_they_are_known(name: str) -> None:
    users = [script for script in SCRIPTS if f"{name}.sha256" in script.read_text()]
    (user,) = [script for script in users if script.name.startswith("fetch-")]
    text = user.read_text()
    assert text.index("mvn --quiet") < text.index(f'verify-jars "$dir/lib" scripts/{name}.sha256')
    assert text.index("verify-jars") < text.rindex("touch ")
    lines = (ROOT / "scripts" / f"{name}.sha256").read_text().splitlines()
    assert lines
    assert all(re.fullmatch(r"[0-9a-f]{64}  [\w.-]+\.jar", line) for line in lines)


def test_other_jars_are_not_verified(tmp_path: Path) -> None:
    jars, known = tmp_path / "lib", tmp_path / "jars.sha256"
    jars.mkdir()
    (jars / "a.jar").write_bytes(b"a")
    summed = subprocess.run(
        ["sha256sum", "a.jar"], cwd=jars, capture_output=True, check=True
    ).stdout
    known.write_bytes(summed)

    def is_verified() -> bool:
        command = [ROOT / "scripts" / "verify-jars", jars, known]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    assert is_verified()
    (jars / "b.jar").write_bytes(b"b")
    assert not is_verified()
    (jars / "b.jar").unlink()
    (jars / "a.jar").write_bytes(b"changed")
    assert not is_verified()
    (jars / "a.jar").unlink()
    assert not is_verified()
