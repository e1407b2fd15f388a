"""Code shared by the handlers of admin APIs: topic names, config resources, loggers."""
