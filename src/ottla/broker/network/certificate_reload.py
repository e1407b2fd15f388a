"""Reads changed certificates again, and logs whether they are used."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ottla.runtime.tls.endpoint import TlsEndpoint

_log = logging.getLogger(__name__)


def reload_certificates(endpoints: Iterable[TlsEndpoint]) -> None:
    """Most of them have the same files."""
    changed: set[str] = set()
    errors: set[str] = set()
    for endpoint in endpoints:
        try:
            changed |= endpoint.reload_if_changed()
        except OSError as error:
            errors.add(str(error))
    for each in sorted(errors):
        _log.error("the changed certificates are not used, the old ones stay: %s", each)
    if changed and not errors:
        _log.info("changed certificates are used now: %s", ", ".join(sorted(changed)))
