"""A node's metrics and health over HTTP. Reads the node's state, and changes none of it."""
