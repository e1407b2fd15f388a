"""Confluent's error codes and the messages that clients and their tests know."""

from __future__ import annotations

from typing import Final

from ottla.web.service.problems import HttpProblem

LATEST: Final = "latest"


def registry_problem(code: int, message: str) -> HttpProblem:
    """Codes have the HTTP status and two digits."""
    return HttpProblem(code // 100 if code >= 1000 else code, message, code=code)


def subject_not_found(subject: str) -> HttpProblem:
    return registry_problem(40401, f"Subject '{subject}' not found.")


def version_not_found(version: int | str) -> HttpProblem:
    return registry_problem(40402, f"Version {version} not found.")


def schema_not_found(id_: int | str | None = None) -> HttpProblem:
    return registry_problem(40403, "Schema not found" if id_ is None else f"Schema {id_} not found")


def subject_soft_deleted(subject: str) -> HttpProblem:
    return registry_problem(
        40404, f"Subject '{subject}' was soft deleted. Set permanent=true to delete permanently"
    )


def subject_not_soft_deleted(subject: str) -> HttpProblem:
    return registry_problem(
        40405, f"Subject '{subject}' was not deleted first before being permanently deleted"
    )


def version_soft_deleted(subject: str, version: int) -> HttpProblem:
    return registry_problem(
        40406,
        f"Subject '{subject}' Version {version} was soft deleted. Set permanent=true to delete "
        "permanently",
    )


def version_not_soft_deleted(subject: str, version: int) -> HttpProblem:
    return registry_problem(
        40407,
        f"Subject '{subject}' Version {version} was not deleted first before being permanently "
        "deleted",
    )


def config_not_found(subject: str) -> HttpProblem:
    return registry_problem(
        40408, f"Subject '{subject}' does not have subject-level compatibility configured"
    )


def mode_not_found(subject: str) -> HttpProblem:
    return registry_problem(
        40409, f"Subject '{subject}' does not have subject-level mode configured"
    )


def incompatible(subject: str, messages: list[str]) -> HttpProblem:
    """With the code of the status, which clients expect; newer registries have 40901."""
    return HttpProblem(
        409,
        "Schema being registered is incompatible with an earlier schema for subject "
        f'"{subject}", details: [{", ".join(messages)}]',
        code=409,
    )


def invalid_schema(message: str) -> HttpProblem:
    return registry_problem(42201, message)


def invalid_version(version: str) -> HttpProblem:
    return registry_problem(
        42202,
        f"The specified version '{version}' is not a valid version id. Allowed values are between "
        f'[1, 2^31-1] and the string "{LATEST}"',
    )


def invalid_level() -> HttpProblem:
    return registry_problem(
        42203,
        "Invalid compatibility level. Valid values are none, backward, forward, full, "
        "backward_transitive, forward_transitive, and full_transitive",
    )


def invalid_mode(message: str = "") -> HttpProblem:
    return registry_problem(
        42204,
        message
        or "Invalid mode. Valid values are READWRITE, READONLY, READONLY_OVERRIDE, IMPORT and "
        "FORWARD.",
    )


def not_permitted(message: str) -> HttpProblem:
    return registry_problem(42205, message)


def reference_exists(subject: str, version: int) -> HttpProblem:
    return registry_problem(
        42206,
        f"One or more references exist to the schema {{magic=1,keytype=SCHEMA,subject={subject},"
        f"version={version}}}.",
    )


def invalid_subject(subject: str) -> HttpProblem:
    return registry_problem(42208, f"The specified subject '{subject}' is not a valid.")


def schema_too_large() -> HttpProblem:
    return registry_problem(42209, "Register operation failed because schema is too large")


def invalid_rule_set(message: str) -> HttpProblem:
    return registry_problem(42210, message)


def context_not_empty(context: str) -> HttpProblem:
    return registry_problem(42211, f"The specified context '{context}' is not empty.")


def store_failed(message: str) -> HttpProblem:
    return registry_problem(50001, message)


def timed_out(message: str) -> HttpProblem:
    return registry_problem(50002, message)


def forwarding_failed(message: str) -> HttpProblem:
    return registry_problem(50003, message)


def no_writer() -> HttpProblem:
    return registry_problem(50004, "No instance of the registry is the writer at the moment.")
