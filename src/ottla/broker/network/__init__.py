"""Client connections: read frames, dispatch requests, send responses in request order."""
