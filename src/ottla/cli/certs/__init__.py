"""`ottla certs`: a development authority, and certificates signed by it."""
