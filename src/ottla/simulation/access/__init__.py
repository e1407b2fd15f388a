"""Records what nodes allow and refuse, and which ACLs and credentials their images have."""
