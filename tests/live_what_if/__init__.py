"""What ``what-if`` and ``fit`` say of a live cluster, beside what then happens in it: ``python -m tests.live_what_if``."""
