"""Keeps WorkloadPolicies: their status, deletion costs, and moves of pods when the numbers are not met."""
