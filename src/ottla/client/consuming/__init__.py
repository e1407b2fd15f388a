"""The consumer: positions, fetching ahead of the application, and what it hands out."""
