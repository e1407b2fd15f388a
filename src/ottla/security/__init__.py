"""Who a client is and what it may do: principals, SASL, delegation tokens and ACLs. No I/O."""
