"""Reads certificates again whose files have changed, and logs which."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ottla.runtime.tls.endpoint import TlsEndpoint

_log = logging.getLogger(__name__)


def reload_certificates(endpoints: Iterable[TlsEndpoint]) -> None:
    """Reads changed files again. If they cannot be used, the endpoints keep what they have. Most
    endpoints of a node have the same files."""
    changed: set[str] = set()
    errors: set[str] = set()
    for endpoint in endpoints:
        try:
            changed |= endpoint.reload_if_changed()
        except OSError as error:
            errors.add(str(error))
    for each in sorted(errors):
        _log.error("cannot use the changed certificates; the old ones stay in use: %s", each)
    if changed and not errors:
        _log.info("using new certificates: %s", ", ".join(sorted(changed)))
