"""An in-memory disk with power loss, torn writes, bit rot, full space and I/O errors."""
