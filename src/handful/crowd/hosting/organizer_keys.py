"""Which key an organizer has: the one printed in the terminal, or one that was made for somebody else."""

from __future__ import annotations

import time
from collections.abc import Callable

from handful.crowd.hosting.tokens import Secret, key_in_session, new_session
from handful.storage.keys import Key, Keys, hash_of

TERMINAL = "terminal"


class OrganizerKeys:
    """The keys of a server. The terminal's is made from the secret, so that it is the same after a restart."""

    def __init__(self, secret: Secret, keys: Keys, clock: Callable[[], float] = time.time) -> None:
        self.keys = keys
        self._secret = secret
        self._clock = clock
        self.terminal = self._terminal()
        self.cookie = f"handful_organizer_{secret.derive('cookie').hex()[:8]}"
        """What the cookie of a session is called: a browser has the same ones for all ports of a machine, and there may
        be another server.
        """

    def typed(self, key: str) -> Key | None:
        """The stored key that somebody typed, unless it is revoked."""
        hash_ = hash_of(key)
        return next((known for known in self.keys.all() if known.hash == hash_ and known.revoked is None), None)

    def session(self, key: Key, seconds: float) -> str:
        """A cookie that opens what the key opens, for so long, unless the key is revoked before."""
        return new_session(self._secret, key.id, self._clock() + seconds)

    def of_session(self, cookie: str | None) -> Key | None:
        """The key that a session was opened with, as it is stored now; None if it is revoked."""
        id_ = key_in_session(self._secret, cookie, self._clock())
        key = None if id_ is None else self.keys.get(id_)
        return key if key is not None and key.revoked is None else None

    def _terminal(self) -> str:
        """The terminal's key: the first that was not revoked, and was made with this secret."""
        number = 1
        while True:
            id_ = TERMINAL if number == 1 else f"{TERMINAL}-{number}"
            typed = self._secret.organizer_key(number)
            stored = self.keys.get(id_)
            if stored is None:
                self.keys.add(Key(id_, None, "own", hash_of(typed), self._clock()))
                return typed
            if stored.revoked is None:
                if stored.hash == hash_of(typed):
                    return typed
                self.keys.revoke(id_, self._clock())  # made with a secret that is gone
            number += 1
