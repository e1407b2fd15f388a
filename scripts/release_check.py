"""Builds the wheel and the sdist, looks into them, and tries the wheel as users install it.

    .venv/bin/python -m scripts.release_check --pythons 3.12 --extras none pipeline

In a fresh environment for each Python and each extra it runs `ottla --version`, imports every
public name, starts a node, and writes and reads records as far as the extra allows. Users' typed
code is checked against the installed package. Pythons are looked for on the PATH and among pyenv's
versions; missing ones are named. Packages are what pip finds, not what is locked, because the
bounds in pyproject.toml are part of the release.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = [
    found[1]
    for each in PROJECT["classifiers"]
    if (found := re.search(r"Python :: (3\.\d+)$", each))
]
BARE = "none"
EXTRAS = [BARE, *PROJECT["optional-dependencies"]]
STEPS = ROOT / "scripts" / "release_steps"
TYPED_CODE = {BARE: "user_code.py", "pipeline": "user_pipeline.py"}
IN_WHEEL = (
    "ottla/py.typed",
    "ottla/__main__.py",
    "pyspark_ottla.py",
    ".dist-info/licenses/LICENSE",
)
TOP_OF_WHEEL = {"ottla", "pyspark_ottla.py"}
# Most of it for pip, which may have to fetch Spark.
STEP_SECONDS_MAX = 900


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.release_check")
    parser.add_argument("--pythons", nargs="+", default=PYTHONS, choices=PYTHONS)
    parser.add_argument("--extras", nargs="+", default=EXTRAS, choices=EXTRAS)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="ottla-release-") as scratch:
        return check(Path(scratch), options.pythons, options.extras)


def check(scratch: Path, pythons: Sequence[str], extras: Sequence[str]) -> int:
    wheel = build(scratch)
    failed, skipped = [], []
    for version in pythons:
        python = find_python(version)
        if python is None:
            skipped.append(f"Python {version}")
            continue
        for extra in extras:
            name = f"Python {version}, {'bare' if extra == BARE else extra}"
            try:
                check_extra(scratch, python, wheel, extra)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                failed.append(name)
                print(f"{name}: FAILED\n{error}\n{error.output}")
            else:
                print(f"{name}: ok", flush=True)
    for what in skipped:
        print(f"{what}: skipped, it is not installed")
    print(f"{wheel.name}: {'failed: ' + '; '.join(failed) if failed else 'ready for release'}")
    return 1 if failed else 0


def build(scratch: Path) -> Path:
    """The wheel, made from the sdist, so that the sdist is known to be complete."""
    run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(scratch)], cwd=ROOT)
    (sdist,) = scratch.glob("*.tar.gz")
    shutil.unpack_archive(sdist, scratch / "source")
    (source,) = (scratch / "source").iterdir()
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(scratch)], cwd=source)
    (wheel,) = scratch.glob("*.whl")
    names = ZipFile(wheel).namelist()
    for needed in IN_WHEEL:
        assert any(name.endswith(needed) for name in names), f"{wheel.name} lacks {needed}"
    tops = {top for name in names if not (top := name.partition("/")[0]).endswith(".dist-info")}
    assert tops == TOP_OF_WHEEL, f"{wheel.name} has {sorted(tops)}"
    in_tree = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert in_tree == {name for name in names if name.endswith(".py")}
    print(f"{sdist.name}, {wheel.name}: {len(names)} files, {wheel.stat().st_size >> 10} KiB")
    return wheel


def find_python(version: str) -> Path | None:
    """On the PATH if it runs (a pyenv shim may refuse to), or the newest of pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    on_path = shutil.which(f"python{version}")
    found = [*pyenv.glob(f"{version}.*/bin/python"), *([Path(on_path)] if on_path else [])]
    for python in reversed(found):
        if subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
            return python
    return None


def check_extra(scratch: Path, python: Path, wheel: Path, extra: str) -> None:
    with environment(scratch, python) as bin_directory:
        installed = bin_directory / "python"
        wanted = str(wheel) if extra == BARE else f"{wheel}[{extra}]"
        run([installed, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted])
        version = run([bin_directory / "ottla", "--version"]).strip()
        assert version == f"ottla {wheel.name.split('-')[1]}", version
        names = ROOT / "tests" / "fixtures" / "public_names.txt"
        run([installed, STEPS / "import_public_names.py", names])
        step = STEPS / f"use_{extra}.py"
        run([installed, step if step.is_file() else STEPS / "use_none.py"])
        if code := TYPED_CODE.get(extra):
            file = shutil.copy(ROOT / "tests" / "typing" / code, scratch)
            options = ["--strict", f"--python-executable={installed}", "--config-file="]
            run([sys.executable, "-m", "mypy", *options, f"--cache-dir={scratch}/mypy", file])


@contextmanager
def environment(scratch: Path, python: Path) -> Iterator[Path]:
    """A fresh virtual environment, which is gone afterwards: that of Spark has a gigabyte."""
    directory = scratch / "environment"
    run([python, "-m", "venv", directory])
    try:
        yield directory / "bin"
    finally:
        shutil.rmtree(directory)


def run(command: Sequence[str | Path], *, cwd: Path | None = None) -> str:
    """Away from the sources, which would be imported instead of the wheel."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    clean["PATH"] = f"{Path(command[0]).parent}{os.pathsep}{clean['PATH']}"
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd or tempfile.gettempdir(),
        env=clean,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=STEP_SECONDS_MAX,
    ).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
