"""The same engine in virtual time, in memory: files in, what would happen out."""
