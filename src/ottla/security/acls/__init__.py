"""Access control lists, and the decisions of Kafka's StandardAuthorizer over them."""
