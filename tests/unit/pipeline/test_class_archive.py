"""Spark's classes in a file: what is said where there is none, and where it cannot be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.pipeline.running.class_archive import ClassArchive


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClassArchive:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return ClassArchive.of(Path("/bin/false"))


def test_without_an_archive_java_gets_no_options(archive: ClassArchive) -> None:
    assert not archive.is_settled
    assert archive.options == ""


def test_with_an_archive_java_gets_both_of_its_files(archive: ClassArchive) -> None:
    archive.directory.mkdir(parents=True)
    for name in ("java", "spark"):
        (archive.directory / f"{name}.jsa").touch()
    assert archive.is_settled
    used, *quiet = archive.options.split()
    at = archive.directory
    assert used == f"-XX:SharedArchiveFile={at / 'java.jsa'}:{at / 'spark.jsa'}"
    assert all(option.startswith("-Xlog:cds") for option in quiet)


def test_what_cannot_be_made_is_not_tried_again(archive: ClassArchive) -> None:
    archive.make()
    assert archive.is_settled
    assert archive.options == ""
    assert [each.name for each in archive.directory.iterdir()] == ["failed"]


def test_a_place_where_nothing_can_be_kept_is_no_failure(
    archive: ClassArchive, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file is in its place")
    archive.make()
    assert not archive.is_settled


def test_another_java_has_another_archive(archive: ClassArchive) -> None:
    assert ClassArchive.of(Path("/bin/true")).directory != archive.directory


def test_a_java_that_would_refuse_it_gets_none(archive: ClassArchive, tmp_path: Path) -> None:
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.touch()
    for version, is_refused in (("17.0.15", False), ("21.0.8", True), ("25", True)):
        (tmp_path / "jdk" / "release").write_text(f'JAVA_VERSION="{version}"\n')
        assert ClassArchive.of(java).is_settled == is_refused
