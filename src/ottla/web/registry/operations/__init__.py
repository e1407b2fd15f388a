"""What a request looks up or changes. Each changing operation returns when it is readable here."""
