"""What people look at: a cluster, its pods and what happened, as documents for the page, and as files."""
