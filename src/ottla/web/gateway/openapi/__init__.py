"""The description of the gateway's calls: an OpenAPI document, and a page that shows it."""
