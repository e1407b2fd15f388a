"""`ottla pipelines`: checks and runs data pipelines."""
