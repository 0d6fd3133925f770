"""``python -m bayplan`` is ``bayplan``."""

from bayplan.cli.main import run

run()
