"""What an API server does to an object before it stores it: defaults, checks, refusals."""
