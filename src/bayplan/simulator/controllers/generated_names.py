"""
Names that controllers make up: suffixes and hashes in Kubernetes' own alphabet, the same in every run of a seed.

``workloads`` names its pods and ReplicaSets with it.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

import msgspec

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""No vowels and no look-alikes, so that no name is a word by chance."""

SUFFIX_LENGTH = 5
_HASH_BITS = 32


class Names:
    """Gives out names that are not taken."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._taken: set[tuple[str, str, str]] = set()
        self._made: Counter[tuple[str, str, str]] = Counter()

    def take(self, kind: str, namespace: str, name: str) -> None:
        """This name is there already."""
        self._taken.add((kind, namespace, name))

    def is_taken(self, kind: str, namespace: str, name: str) -> bool:
        return (kind, namespace, name) in self._taken

    def generate(self, kind: str, namespace: str, prefix: str) -> str:
        """A new name with a random-looking end."""
        while True:
            number = self._made[kind, namespace, prefix]
            self._made[kind, namespace, prefix] += 1
            name = prefix + suffix(f"{self._seed}/{kind}/{namespace}/{prefix}/{number}")
            if not self.is_taken(kind, namespace, name):
                self.take(kind, namespace, name)
                return name

    def template_hash(self, template: msgspec.Struct) -> str:
        """What stands in ``pod-template-hash``: 8 to 10 characters that depend on the template."""
        content = msgspec.json.encode(template)
        number = int.from_bytes(sha256(b"%d/%b" % (self._seed, content)).digest()[: _HASH_BITS // 8], "big")
        # As Kubernetes does it: the decimal digits of a 32-bit number, each written as a safe letter.
        return "".join(ALPHABET[ord(digit) % len(ALPHABET)] for digit in f"{number:08d}")


def suffix(text: str) -> str:
    """Five characters that look random and depend on the text alone."""
    number = int.from_bytes(sha256(text.encode()).digest()[:8], "big")
    letters = []
    for _ in range(SUFFIX_LENGTH):
        number, index = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[index])
    return "".join(letters)
