"""What the shape of the code promises: names that others import, and which way imports go."""
