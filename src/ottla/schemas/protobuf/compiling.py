"""Compiles a file and what it imports to descriptors.

protoc runs inside this process and reads the files from a temporary directory, which has nothing
but the texts of the registry and the files that come with Protobuf. Clients may also send a
serialized descriptor in base64, which needs no compiler.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError

from ottla.schemas.errors import InvalidSchemaError
from ottla.schemas.protobuf.bundled import BUNDLED_FILES
from ottla.schemas.source import ResolvedReference

_MAIN: Final = "default.proto"
_NAME: Final = re.compile(r"[A-Za-z0-9_.\-+ /]{1,250}\Z")
_MESSAGES_MAX: Final = 5
# What protoc's C++ library logs, such as a warning about a missing syntax.
_LOG_LINE: Final = re.compile(r"[WIE]\d{4} ")


def compile_protobuf(text: str, references: Iterable[ResolvedReference]) -> list[Any]:
    """The descriptors of the file, which is the last, and of everything that it imports. Raises
    InvalidSchemaError."""
    texts: dict[str, str] = {}
    serialized: dict[str, Any] = {}
    for reference in references:
        given = _serialized(reference.text)
        if given is None:
            texts[reference.name] = reference.text
        else:
            given.name = reference.name
            serialized[reference.name] = given
    main = _serialized(text)
    if main is None and not serialized:
        return _run_protoc(text, texts)
    if main is None:
        raise InvalidSchemaError(
            "a file with imports that were registered as descriptors must be one itself"
        )
    main.name = main.name or _MAIN
    imports = [name for name in _all_imports(main, serialized) if name not in serialized]
    dummy = "\n".join(['syntax = "proto3";', *(f'import "{name}";' for name in imports)])
    compiled = _run_protoc(dummy, texts)[:-1] if imports else []
    return [*compiled, *serialized.values(), main]


def _all_imports(main: Any, serialized: dict[str, Any]) -> list[str]:
    found = {name: None for file in (main, *serialized.values()) for name in file.dependency}
    for name in found:
        _check_name(name)
    return list(found)


def _serialized(text: str) -> Any:
    """The descriptor that the text is in base64; None if it is a file's source."""
    try:
        decoded = base64.b64decode(text.strip(), validate=True)
        file = FileDescriptorProto.FromString(decoded)
    except (binascii.Error, ValueError, DecodeError):
        return None
    return file if file.ListFields() else None


def _run_protoc(text: str, texts: dict[str, str]) -> list[Any]:
    from grpc_tools import _protoc_compiler, protoc

    builtin = str(Path(protoc.__file__).parent / "_proto")
    with tempfile.TemporaryDirectory(prefix="ottla-protoc-") as directory:
        main = _MAIN if _MAIN not in texts else f"ottla/{_MAIN}"
        given = {**texts, main: text}
        for name, each in {**_bundled(given.values()), **given}.items():
            _check_name(name)
            path = Path(directory, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(each, "utf-8")
        output = str(Path(directory, "descriptors"))
        arguments = (
            "protoc",
            f"-I{directory}",
            f"-I{builtin}",
            "--include_imports",
            f"--descriptor_set_out={output}",
            main,
        )
        messages = Path(directory, "messages")
        with _standard_error(messages):
            code = _protoc_compiler.run_main([each.encode() for each in arguments])
        if code != 0:
            raise InvalidSchemaError(
                _explain(messages.read_text("utf-8", "replace").replace(f"{directory}/", ""))
            )
        return list(FileDescriptorSet.FromString(Path(output).read_bytes()).file)


def _bundled(texts: Iterable[str]) -> dict[str, str]:
    """The files of Confluent's registry that these may import."""
    return {
        name: each for name, each in BUNDLED_FILES.items() if any(name in text for text in texts)
    }


@contextmanager
def _standard_error(path: Path) -> Iterator[None]:
    """protoc writes its messages to the standard error of the process."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with path.open("wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _explain(messages: str) -> str:
    lines = [
        line.removeprefix(f"{_MAIN}:").strip()
        for line in messages.splitlines()
        if "warning:" not in line and not _LOG_LINE.match(line)
    ]
    return "the schema is not valid Protobuf: " + "; ".join(lines[:_MESSAGES_MAX])


def _check_name(name: str) -> None:
    """The name becomes a path in the temporary directory."""
    parts = PurePosixPath(name).parts
    if not _NAME.match(name) or name.startswith("/") or ".." in parts or not parts:
        raise InvalidSchemaError(f"{name!r} is no path of an import")
