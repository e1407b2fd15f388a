"""Files that Confluent's registry lets every schema import without a reference.

Only names, numbers and types: what the wire format and the options of other schemas depend on.
"""

from __future__ import annotations

from typing import Final

_META: Final = """syntax = "proto3";
package confluent;
import "google/protobuf/descriptor.proto";
message Meta {
  string doc = 1;
  map<string, string> params = 2;
  repeated string tags = 3;
}
extend google.protobuf.FileOptions { Meta file_meta = 1088; }
extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }
"""
_DECIMAL: Final = """syntax = "proto3";
package confluent.type;
message Decimal {
  bytes value = 1;
  uint32 precision = 2;
  int32 scale = 3;
}
"""
BUNDLED_FILES: Final = {"confluent/meta.proto": _META, "confluent/type/decimal.proto": _DECIMAL}
