"""SASL: the mechanisms, their messages, and the server's state machine of one connection."""
