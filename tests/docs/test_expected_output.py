from __future__ import annotations

import pytest

from tests.docs.expected_output import difference


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("Ready on 127.0.0.1:9092 (node 1, 157 ms)", "Ready on 127.0.0.1:32100 (node 1, 1.2 s)"),
        ("cluster HONbNtm1Raa_EXk0xf3Eww", "cluster W8sWeDC8Qt-F6dZkXwgOmg"),
        ("2026-11-16 04:11:10.526\tan apple", "2027-01-01 00:00:00.001   an apple"),
        ("log.dirs  broker's file  /var/lib/ottla", "log.dirs  broker's file  /tmp/x"),
        ("2  voter  81  0  -", "3  voter  103  1  0.3 s"),
        ("1 record, … in all", "1 record, and another in all"),
    ],
)
def test_numbers_ids_times_and_paths_may_differ(shown: str, printed: str) -> None:
    assert difference([shown], [printed]) == ""


def test_rows_may_come_in_another_order() -> None:
    assert difference(["1 leader", "2 voter"], ["1 voter", "2 leader"]) == ""


def test_words_may_not_differ() -> None:
    assert "is not there" in difference(["created orders"], ["created copies"])


def test_a_line_is_missed() -> None:
    assert "is not there" in difference(["one", "one"], ["one"])


def test_a_line_too_many_is_seen_unless_there_is_an_ellipsis() -> None:
    assert "is not expected" in difference(["one"], ["one", "two"])
    assert difference(["one", "…"], ["one", "two"]) == ""
