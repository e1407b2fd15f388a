"""What handlers of administrators share: names, resources, loggers."""
