"""Messages as JSON: what the six calls take and answer."""
