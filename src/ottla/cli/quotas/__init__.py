"""`ottla quotas`: quotas of users, client ids and addresses."""
