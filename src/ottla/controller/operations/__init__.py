"""What a controller can be asked for: a function for each request, without effects of its own."""
