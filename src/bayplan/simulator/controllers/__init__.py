"""What other controllers do in a cluster, in virtual time: workloads, budgets, taints, volumes."""
