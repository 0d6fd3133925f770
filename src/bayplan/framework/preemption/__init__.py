"""Preemption: who would have to go, on one node and on many, and the budgets that protect them."""
