"""Messages as they come: server-sent events and WebSockets."""
