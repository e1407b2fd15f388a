"""What requests say in their paths and queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from starlette.requests import Request

from ottla.schemas.registered.schema_version import SchemaVersion
from ottla.schemas.registered.state import RegistryState
from ottla.schemas.registered.subject_name import (
    DEFAULT_CONTEXT,
    SubjectName,
    beside,
    normal_context,
    normal_subject,
    qualified,
)
from ottla.web.registry.errors import invalid_subject
from ottla.web.service.paths import segment
from ottla.web.service.problems import HttpProblem

T = TypeVar("T")


def flag(request: Request, name: str) -> bool:
    return request.query_params.get(name, "").lower() in ("true", "1")


def context_of(request: Request) -> str:
    """Of a path that begins with /contexts/{context}/."""
    if "context" not in request.path_params:
        return DEFAULT_CONTEXT
    return normal_context(segment(request, "context"))


def subject_in_context(request: Request, subject: str) -> str:
    if subject.startswith((":.", ":*:")):
        return normal_subject(subject)
    return qualified(context_of(request), subject)


def subject_of(request: Request, state: RegistryState) -> str:
    """Of the path; an alias stands for the subject that its config names."""
    subject = subject_in_context(request, segment(request, "subject"))
    return resolve_alias(state, subject)


def resolve_alias(state: RegistryState, subject: str) -> str:
    alias = state.configs.get(subject, {}).get("alias")
    return beside(subject, alias) if alias else subject


def settings_subject(request: Request) -> str | None:
    """Of /config and /mode: None for the global settings. Raises HttpProblem 42208."""
    given = segment(request, "subject") if "subject" in request.path_params else ""
    subject = subject_in_context(request, given)
    if not SubjectName.parse(subject).is_valid_for_settings:
        raise invalid_subject(given)
    return subject or None


def id_subject(request: Request, state: RegistryState) -> str:
    """The subject or context in which an id is looked up."""
    given = request.query_params.get("subject", "")
    subject = subject_in_context(request, given)
    return resolve_alias(state, subject) if given else subject


def page(request: Request, values: Sequence[T], *, limit_max: int | None = None) -> Sequence[T]:
    offset = _number(request, "offset", 0)
    limit = _number(request, "limit", -1)
    if limit_max is not None:
        limit = limit_max if limit < 0 else min(limit, limit_max)
    values = values[max(offset, 0) :]
    return values if limit < 0 else values[:limit]


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name)
    if not text:
        return default
    try:
        return int(text)
    except ValueError:
        raise HttpProblem(404, f"{name}={text!r} is no number") from None


def matching_subjects(state: RegistryState, prefix: str) -> list[str]:
    """Subjects in order; `:*:` stands for all contexts."""
    name = SubjectName.parse(prefix)
    if name.context == "*":
        prefixes = [qualified(each, name.subject) for each in state.contexts]
    else:
        prefixes = [prefix]
    found = set()
    for subject in state.subjects():
        context = SubjectName.parse(subject).context
        for each in prefixes:
            if subject.startswith(each) and SubjectName.parse(each).context == context:
                found.add(subject)
    return sorted(found)


def shown_references(request: Request, version: SchemaVersion) -> tuple[Any, ...]:
    """References; with `referenceFormat=qualified`, with the context of their subjects."""
    references = version.schema.references
    if request.query_params.get("referenceFormat") != "qualified":
        return references
    return tuple(
        each._replace(subject=beside(version.subject, each.subject)) for each in references
    )
