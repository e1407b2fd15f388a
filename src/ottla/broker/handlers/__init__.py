"""Request handlers, one module per API. Each docstring lists its versions and error codes."""
