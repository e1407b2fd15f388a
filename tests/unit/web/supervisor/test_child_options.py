"""What a request may deploy: definitions of one directory, and few settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.web.supervisor.model.child_options import (
    InvalidDeploymentError,
    check_config,
    check_name,
    definition_file,
)


@pytest.mark.parametrize("name", ["orders", "a.b-c_1", "x" * 100])
def test_names_of_pipelines(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    "name", ["", "..", "a/b", "../a", ".a", "a..b", "-a", "a b", "x" * 101, "ä"]
)
def test_names_that_could_be_paths_or_options_are_refused(name: str) -> None:
    with pytest.raises(InvalidDeploymentError):
        check_name(name)


def test_sizes_of_spark_can_be_chosen() -> None:
    check_config({"file": "a.py", "name": "a", "spark.driver.memory": "2g"})


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("spark.jars", "http://127.0.0.1/evil.jar"),
        ("spark.driver.extraJavaOptions", "-javaagent:evil.jar"),
        ("spark.master", "spark://evil:7077"),
        ("spark.submit.pyFiles", "evil.py"),
        ("spark.driver.memory", "2g -javaagent:evil.jar"),
        ("spark.sql.shuffle.partitions", "2\n--conf"),
        ("master", "local[2]"),
    ],
)
def test_settings_that_could_run_code_are_refused(setting: str, value: str) -> None:
    with pytest.raises(InvalidDeploymentError):
        check_config({"file": "a.py", setting: value})


def test_only_python_files_of_the_directory_itself_are_definitions(tmp_path: Path) -> None:
    directory = tmp_path / "definitions"
    (directory / "inner").mkdir(parents=True)
    outside = tmp_path / "outside.py"
    for path in (outside, directory / "a.py", directory / "inner" / "b.py", directory / "c.txt"):
        path.touch()
    (directory / "link.py").symlink_to(outside)
    assert definition_file(directory, "a.py") == directory / "a.py"
    for name in ("../outside.py", str(outside), "inner/b.py", "c.txt", "link.py", "none.py", ""):
        with pytest.raises(InvalidDeploymentError):
            definition_file(directory, name)


def test_a_config_names_its_definition() -> None:
    with pytest.raises(InvalidDeploymentError, match="file"):
        check_config({})
