"""The charts and the image: rendered, installed on the real API server, and run from."""
