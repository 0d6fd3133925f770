"""Devices that pods claim (resource.k8s.io): what drivers publish, what claims ask for, and what they were given."""
