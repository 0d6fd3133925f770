"""A small cluster on this machine for a person: a real control plane, and fake nodes whose pods become Running."""
