"""What has to hold in every history."""
