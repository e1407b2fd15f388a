"""A broker and the controller: registration, heartbeats, requests to the active one."""
