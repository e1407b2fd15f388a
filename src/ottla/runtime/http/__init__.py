"""A small HTTP/1.1 server for a few read-only pages, such as a node's metrics."""
