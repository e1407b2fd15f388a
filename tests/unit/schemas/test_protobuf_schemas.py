"""Protobuf: what compiles, how it is printed, and which changes break readers."""

from __future__ import annotations

from importlib import import_module

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from ottla.schemas import InvalidSchemaError, ResolvedReference
from ottla.schemas.protobuf.bundled import BUNDLED_FILES
from ottla.schemas.protobuf.compiling import compile_protobuf
from ottla.schemas.protobuf.schema import ProtobufSchema

PROTO = 'syntax = "proto3";\n'
EVERYTHING = """syntax = "proto3";
package shop.v1;

import "google/protobuf/timestamp.proto";
import "shop/money.proto";

option java_package = "org.example";

message Order {
  reserved 4, 6 to 8;
  reserved "old";

  string id = 1;
  optional int64 count = 2;
  repeated Line lines = 3 [deprecated = true];
  map<string, Line> by_name = 5;
  google.protobuf.Timestamp at = 9;
  shop.Money total = 12 [json_name = "sum"];

  oneof payment {
    string card = 10;
    bytes token = 11;
  }

  message Line {
    State state = 1;
  }
  enum State {
    option allow_alias = true;
    NEW = 0;
    FRESH = 0;
  }
}

service Orders {
  rpc Put (Order) returns (stream Order);
}
"""
MONEY = ResolvedReference(
    "shop/money.proto", 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }'
)


def test_what_is_printed_is_what_was_written() -> None:
    schema = ProtobufSchema.parse(EVERYTHING, [MONEY])
    assert schema.canonical == EVERYTHING


def test_comments_and_layout_do_not_count() -> None:
    first = ProtobufSchema.parse(PROTO + "message A { int32 a = 1; }")
    second = ProtobufSchema.parse(PROTO + "// a comment\nmessage A {\n\n  int32 a\n = 1;\n}\n")
    assert first.canonical == second.canonical


def test_the_normal_form_orders_fields_by_number_and_names_types_fully() -> None:
    schema = ProtobufSchema.parse(
        PROTO + "package p; message A { B b = 2; int32 a = 1; message B {} }"
    )
    normal = schema.normal
    assert normal.index("int32 a = 1;") < normal.index(".p.A.B b = 2;")


def test_a_descriptor_in_base64_is_the_same_schema() -> None:
    schema = ProtobufSchema.parse(EVERYTHING, [MONEY])
    again = ProtobufSchema.parse(schema.formatted("serialized"), [MONEY])
    assert again.canonical == schema.canonical


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PROTO + "message A { int32 a = 1 }", "Expected"),
        (PROTO + "message A { Missing a = 1; }", "Missing"),
        (PROTO + 'import "../../etc/passwd"; message A {}', "not valid"),
        (PROTO + 'import "none.proto"; message A {}', "none.proto"),
        ("", "not valid|syntax"),
    ],
)
def test_an_invalid_schema_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(InvalidSchemaError, match=reason) as caught:
        ProtobufSchema.parse(text + ("x" if not text else ""))
    assert "/tmp" not in str(caught.value)


def test_a_reference_is_only_written_inside_the_directory() -> None:
    outside = ResolvedReference("../outside.proto", PROTO)
    with pytest.raises(InvalidSchemaError, match="no path of an import"):
        ProtobufSchema.parse(PROTO + "message A {}", [outside])


@pytest.mark.parametrize(
    ("reader", "writer", "kinds"),
    [
        ("message A { int64 a = 1; }", "message A { int32 a = 1; }", []),
        (
            "message A { string a = 1; }",
            "message A { int32 a = 1; }",
            ["FIELD_SCALAR_KIND_CHANGED"],
        ),
        (
            "message A { B a = 1; message B {} }",
            "message A { int32 a = 1; }",
            ["FIELD_KIND_CHANGED"],
        ),
        ("message A { bytes a = 1; }", "message A { string renamed = 1; }", []),
        ("message A {}", "message A { int32 a = 1; }", []),
        ("message A { int32 a = 1; }", "message A {}", []),
        ("message B {}", "message A {} message B {}", ["MESSAGE_REMOVED"]),
        ("package p; message A {}", "package q; message A {}", ["PACKAGE_CHANGED"]),
        (
            "message A { oneof o { int32 a = 1; } }",
            "message A { oneof o { int32 a = 1; int32 b = 2; } }",
            ["ONEOF_FIELD_REMOVED"],
        ),
        (
            "message A { oneof o { int32 a = 1; int32 b = 2; } }",
            "message A { int32 a = 1; int32 b = 2; }",
            ["MULTIPLE_FIELDS_MOVED_TO_ONEOF"],
        ),
        (
            "message A { map<string, string> m = 1; }",
            "message A { map<string, int32> m = 1; }",
            ["FIELD_SCALAR_KIND_CHANGED"],
        ),
        (
            "message A { B b = 1; } message B {} message C {}",
            "message A { C b = 1; } message B {} message C {}",
            ["FIELD_NAMED_TYPE_CHANGED"],
        ),
    ],
)
def test_a_reader_reads_what_the_wire_format_allows(
    reader: str, writer: str, kinds: list[str]
) -> None:
    later, earlier = (ProtobufSchema.parse(PROTO + each) for each in (reader, writer))
    assert [each.kind for each in later.unreadable(earlier)] == kinds


GOOGLE_TYPES = sorted(name for name in BUNDLED_FILES if name.startswith("google/type/"))


def cleared(file: FileDescriptorProto) -> FileDescriptorProto:
    """Without what is not on the wire: options, and names in JSON that follow from the others."""
    messages = list(file.message_type)
    for message in messages:
        messages.extend(message.nested_type)
        for field in message.field:
            field.ClearField("json_name")
    file.ClearField("options")
    return file


@pytest.mark.parametrize("name", GOOGLE_TYPES)
def test_googles_common_types_need_no_reference(name: str) -> None:
    """As in Confluent's registry. They are those of Google's own package."""
    theirs = FileDescriptorProto()
    module = import_module(f"{name.removesuffix('.proto').replace('/', '.')}_pb2")
    module.DESCRIPTOR.CopyToProto(theirs)
    compiled = compile_protobuf(f'{PROTO}import "{name}";', [])
    [ours] = [each for each in compiled if each.name == name]
    assert cleared(ours) == cleared(theirs)
