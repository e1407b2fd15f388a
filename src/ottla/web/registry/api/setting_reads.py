"""GET requests for settings, contexts, and the server itself."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ottla.version import __version__
from ottla.web.registry.api.lookups import Lookups
from ottla.web.registry.api.queries import (
    flag,
    page,
    settings_subject,
)
from ottla.web.registry.api.responses import (
    config_response,
    json_response,
)
from ottla.web.registry.errors import (
    config_not_found,
    mode_not_found,
)
from ottla.web.registry.model.settings_in_scope import (
    config_in_scope,
    mode_in_scope,
    own_config,
    own_mode,
)


class SettingReads:
    """Owned by one event loop."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups
        self._state = lookups.state

    async def config(self, request: Request) -> Response:
        subject = settings_subject(request)
        if flag(request, "defaultToGlobal"):
            return config_response(config_in_scope(self._state, subject))

        def find() -> Any:
            found = own_config(self._state, subject)
            if found is None:
                raise config_not_found(str(subject))
            return found

        return config_response(await self._lookups.found(find))

    async def mode(self, request: Request) -> Response:
        subject = settings_subject(request)
        if flag(request, "defaultToGlobal"):
            return json_response({"mode": mode_in_scope(self._state, subject)})

        def find() -> str:
            found = own_mode(self._state, subject)
            if found is None:
                raise mode_not_found(str(subject))
            return found

        return json_response({"mode": await self._lookups.found(find)})

    async def contexts(self, request: Request) -> Response:
        prefix = request.query_params.get("contextPrefix", "")
        found = [each for each in self._state.contexts if each.startswith(prefix)]
        return json_response(page(request, found))

    async def root(self, _request: Request) -> Response:
        return json_response({})

    async def metadata_id(self, _request: Request) -> Response:
        clusters = {
            "kafka-cluster": self._lookups.store.cluster_id,
            "schema-registry-cluster": self._lookups.group_id,
        }
        return json_response({"scope": {"path": [], "clusters": clusters}})

    async def metadata_version(self, _request: Request) -> Response:
        return json_response({"version": f"ottla-{__version__}", "commitId": "unknown"})
