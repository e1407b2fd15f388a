"""Share groups (KIP-932) on a broker: their partitions' state, fetches and acknowledgements."""
