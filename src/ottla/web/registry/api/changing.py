"""Requests that change something: carried out by the writer, to which other instances send them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from ottla.runtime.clock import Clock
from ottla.schemas.registered.state import RegistryState
from ottla.schemas.registered.subject_name import SubjectName, normal_context
from ottla.web.registry.api.queries import (
    flag,
    settings_subject,
    subject_of,
)
from ottla.web.registry.api.responses import POSITION_HEADER, json_response, schema_members
from ottla.web.registry.errors import (
    forwarding_failed,
    invalid_subject,
    no_writer,
)
from ottla.web.registry.operations.deleting import Deleting
from ottla.web.registry.operations.looking_up import parse_version
from ottla.web.registry.operations.references import source_of_version
from ottla.web.registry.operations.registering import Registering
from ottla.web.registry.operations.requests import (
    CONFIG_DECODER,
    MODE_DECODER,
    SCHEMA_DECODER,
)
from ottla.web.registry.operations.schema_work import SchemaWork
from ottla.web.registry.operations.settings import ChangingSettings
from ottla.web.registry.operations.writes import RegistryWrites
from ottla.web.registry.storing.appending import NotWriterError
from ottla.web.registry.storing.store import SchemaStore
from ottla.web.service.application import identity_of
from ottla.web.service.bodies import decode_body, read_body
from ottla.web.service.forwarding import (
    FORWARDED,
    ForwardingFailedError,
    InstanceClient,
    NotForwardedError,
)
from ottla.web.service.instance_address import InstanceAddress
from ottla.web.service.paths import segment
from ottla.web.service.problems import forbidden
from ottla.web.service.request_traces import request_trace

# How long a request waits for a writer to be elected.
_PATIENCE_S: Final = 10.0
_PAUSE_S: Final = 0.1
_PASSED_ON: Final = ("authorization", "content-type")
_WRITE_BIT: Final = 1 << 4

Handler = Callable[[Request], Awaitable[Response]]


class ChangingApi:
    def __init__(
        self,
        state: RegistryState,
        work: SchemaWork,
        writes: RegistryWrites,
        store: SchemaStore,
        clock: Clock,
        client: InstanceClient,
    ) -> None:
        self._state = state
        self._work = work
        self._store = store
        self._clock = clock
        self._client = client
        self._registering = Registering(writes, work)
        self._deleting = Deleting(writes)
        self._settings = ChangingSettings(writes)

    def written(self, handler: Handler) -> Handler:
        """The handler, run on the writer. Its name stays, for the metrics."""

        async def route(request: Request) -> Response:
            if not identity_of(request).operations & _WRITE_BIT:
                raise forbidden("the cluster does not allow you to write to the topic of schemas")
            return await self._on_writer(request, handler)

        route.__name__ = handler.__name__
        return route

    # ---- schemas

    async def register(self, request: Request) -> Response:
        subject = subject_of(request, self._state)
        if not SubjectName.parse(subject).is_valid:
            raise invalid_subject(subject)
        body = await decode_body(request, SCHEMA_DECODER)
        version = await self._registering.register(
            subject,
            body,
            normalizes=flag(request, "normalize"),
            forces=flag(request, "force"),
        )
        form = request.query_params.get("format", "")
        text = None
        if form:
            text = await self._work.formatted(source_of_version(self._state, version), form)
        members = schema_members(version, text=text)
        return json_response({"id": version.id, "version": version.version, **members})

    async def delete_version(self, request: Request) -> Response:
        subject = subject_of(request, self._state)
        number = parse_version(segment(request, "version"))
        permanently = flag(request, "permanent")
        return json_response(
            await self._deleting.delete_version(subject, number, permanently=permanently)
        )

    async def delete_subject(self, request: Request) -> Response:
        subject = subject_of(request, self._state)
        permanently = flag(request, "permanent")
        return json_response(await self._deleting.delete_subject(subject, permanently=permanently))

    async def delete_context(self, request: Request) -> Response:
        await self._deleting.delete_context(normal_context(segment(request, "context")))
        return Response(status_code=204)

    # ---- settings

    async def put_config(self, request: Request) -> Response:
        subject = settings_subject(request)
        body = await decode_body(request, CONFIG_DECODER)
        return json_response(await self._settings.put_config(subject, body))

    async def delete_config(self, request: Request) -> Response:
        return json_response(await self._settings.delete_config(settings_subject(request)))

    async def put_mode(self, request: Request) -> Response:
        subject = settings_subject(request)
        body = await decode_body(request, MODE_DECODER)
        await self._settings.put_mode(subject, body.mode, forces=flag(request, "force"))
        return json_response({"mode": body.mode})

    async def delete_mode(self, request: Request) -> Response:
        subject = settings_subject(request)
        recursively = flag(request, "recursive")
        mode = await self._settings.delete_mode(subject, recursively=recursively)
        return json_response({} if mode is None else {"mode": mode})

    # ---- the writer

    async def _on_writer(self, request: Request, handler: Handler) -> Response:
        """Here if this instance is the writer; otherwise there. While a writer is being elected,
        the request waits for it."""
        deadline = self._clock.monotonic() + _PATIENCE_S
        is_forwarded = FORWARDED in request.headers
        while True:
            if self._store.is_writer:
                try:
                    response = await handler(request)
                except NotWriterError:
                    response = None
                if response is not None:
                    response.headers[POSITION_HEADER] = str(self._store.position)
                    return response
            elif self._store.writer is not None and not is_forwarded:
                response = await self._forwarded(request, self._store.writer)
                if response is not None:
                    return response
            if self._clock.monotonic() >= deadline:
                raise no_writer()
            await self._clock.sleep(_PAUSE_S)

    async def _forwarded(self, request: Request, writer: InstanceAddress) -> Response | None:
        """None if the writer did not get the request, or is none any more."""
        headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
        trace = request_trace(request.scope)
        if trace is not None:
            headers |= {name: value.decode() for name, value in trace.headers()}
        raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
        query: bytes = request.scope["query_string"]
        target = raw.partition(b"?")[0] + (b"?" + query if query else b"")
        body = await read_body(request)
        try:
            answer = await self._client.send(
                writer,
                request.method,
                target.decode("latin-1"),
                {**headers, FORWARDED: "false"},
                body,
            )
        except NotForwardedError:
            return None
        except ForwardingFailedError as error:
            raise forwarding_failed(f"Error while forwarding the request: {error}") from None
        if answer.status == 500 and b"50004" in answer.body:
            return None
        position = answer.headers.get(POSITION_HEADER, "")
        if position.isdigit():
            # So that the caller can read here what it wrote there.
            await self._store.wait_position(int(position))
        content_type = answer.headers.get("content-type")
        return Response(answer.body, status_code=answer.status, media_type=content_type)
