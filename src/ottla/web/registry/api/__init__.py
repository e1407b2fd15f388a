"""Routes of the registry: HTTP to operations and back."""
