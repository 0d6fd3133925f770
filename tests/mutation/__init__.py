"""Inputs made a little wrong, in every way we could think of, through the real commands: ``python -m tests.mutation``.

Whatever a person writes is answered or refused in one line, soon and in bounded memory.  ``seeds`` holds what is right,
``mutating`` makes it wrong, ``trying`` runs one case in this process, ``running`` many of them in workers.
"""
