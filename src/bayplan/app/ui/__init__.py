"""The page in the browser: a read-only web server on a live cluster, on files, or on a simulation that runs."""
