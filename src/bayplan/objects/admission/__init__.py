"""What an API server does to an object that somebody writes: defaults, checks, refusals."""
