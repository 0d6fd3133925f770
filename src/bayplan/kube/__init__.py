"""The client of the Kubernetes API: requests, watches, leader election, Events; and of extenders."""
