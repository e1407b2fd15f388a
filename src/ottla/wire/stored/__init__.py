"""Messages stored on disk: in the metadata log, in internal topics, and in files beside logs."""
