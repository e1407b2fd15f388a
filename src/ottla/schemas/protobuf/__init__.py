"""Protobuf schemas: compiled with protoc, printed and compared by their descriptors.

Only worker processes import this: protoc parses what strangers wrote, in C++.
"""
