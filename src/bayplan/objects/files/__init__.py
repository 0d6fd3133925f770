"""From files to objects: find, read within bounds, parse, decode, check, fill in."""
