"""What a registry knows, and the records that say it. Pure."""
