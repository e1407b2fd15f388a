"""`ottla elect`: elects leaders of partitions."""
