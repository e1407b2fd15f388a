from __future__ import annotations

import pytest

from ottla.controller.service import OPERATIONS, operation_of


@pytest.mark.parametrize("key", OPERATIONS)
def test_every_operation_is_where_the_table_says(key: int) -> None:
    _, name = OPERATIONS[key]

    assert getattr(operation_of(key), "__name__", None) == name
