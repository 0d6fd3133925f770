"""Controllers: what watches a cluster and changes it, beside scheduling."""
