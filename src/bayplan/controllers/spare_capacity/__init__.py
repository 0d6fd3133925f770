"""The controller of spare capacity: keeps each node's ledger, and evicts spare pods from nodes that are too busy."""
