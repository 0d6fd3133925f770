"""The live services, one folder each.  ``shell`` is what all of them share."""
