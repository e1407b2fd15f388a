"""The broker's side of the control plane: registration, heartbeats, controller requests."""
