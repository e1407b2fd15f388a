"""The home that Spark is shown, and what Python processes find in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ottla.pipeline.running.spark_home import use_spark_home

IMPORT = "import py4j, pyspark; print(pyspark.__spec__.cached); print(py4j.__spec__.cached)"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    # Set, so that it is put back afterwards.
    monkeypatch.setenv("SPARK_HOME", "")
    return tmp_path


def test_python_is_imported_as_it_is_installed_and_compiled(cache: Path) -> None:
    use_spark_home()
    home = Path(os.environ["SPARK_HOME"])
    assert home.parent == cache / "ottla"
    assert (home / "bin" / "spark-submit").exists()
    assert any((home / "jars").glob("spark-core_*.jar"))
    archives = home / "python" / "lib"
    # As Spark puts it: the first of them is a file in the package.
    first = str(archives / "pyspark.zip")
    rest = [str(path) for path in archives.glob("py4j-*.zip")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([first, *rest])}
    found = subprocess.run(
        [sys.executable, "-c", IMPORT], env=environment, capture_output=True, text=True, check=True
    )
    for path in found.stdout.split():
        assert path.startswith(first)
        assert path.endswith(".pyc")


def test_it_is_made_once(cache: Path) -> None:
    use_spark_home()
    home = Path(os.environ["SPARK_HOME"])
    made = home.stat().st_ino
    os.environ["SPARK_HOME"] = ""
    use_spark_home()
    assert (os.environ["SPARK_HOME"], home.stat().st_ino) == (str(home), made)
    assert [path.name for path in (cache / "ottla").iterdir()] == [home.name]


def test_a_home_of_the_users_own_stays(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    use_spark_home()
    assert os.environ["SPARK_HOME"] == "/opt/spark"
    assert not list(cache.iterdir())


def test_where_nothing_can_be_kept_spark_finds_its_own(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache / "taken").write_text("by a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / "taken"))
    use_spark_home()
    assert os.environ["SPARK_HOME"] == ""
