"""How a hub is asked: with which token, never where others could read it, and what to do when the hub refuses."""

from __future__ import annotations

import logging

import httpx

from pinfill_service.keys import is_loopback
from pinfill_service.models.hub_token import VARIABLE, FoundToken, TokenError, TokenPlace, find_token

log = logging.getLogger(__name__)

_REFUSALS = {401, 403, 404}  # a hub says 404 for what a token may not see
_NOT_THERE = {
    "EntryNotFound",
    "RevisionNotFound",
}  # the repository can be seen; X-Error-Code names what is missing in it


class HubAccess:
    """One repository of one hub. The token is sent to the hub's own origin only: httpx takes `Authorization` out of a
    request that is redirected to another one. It is not sent over plain HTTP, but on this machine.

    Raises httpx.InvalidURL. May wait for a person to unlock the keyring.
    """

    def __init__(self, endpoint: str, repo: str) -> None:
        self._hub = httpx.URL(endpoint)
        self._repo = repo
        self._token: FoundToken | None = None
        self._rejected = False
        self._why_not = self._obstacle()
        if self._why_not is None:
            try:
                self._token = find_token()
            except TokenError as error:
                self._why_not = str(error)

    def headers(self) -> dict[str, str]:
        if self._token is None or self._rejected:
            return {}
        return {"Authorization": f"Bearer {self._token.value}"}

    def mounts(self) -> dict[str, None]:
        """For httpx.Client: a hub on this machine is not asked through a proxy, which could read the token."""
        if self._hub.scheme != "http" or not is_loopback(self._hub.host):
            return {}
        return {f"http://{self._hub.netloc.decode('ascii')}": None}

    def go_on_without(self, response: httpx.Response) -> bool:
        """Whether to ask again without the token: a hub that does not know it gives nothing for it, not even what is
        public.
        """
        if response.status_code != httpx.codes.UNAUTHORIZED or not self.headers() or not self._answered(response):
            return False
        log.warning("%s does not accept the token %s; it is asked without", self._hub.host, self._words())
        self._rejected = True
        return True

    def advice(self, response: httpx.Response) -> str:
        """What to do about a refusal; "" when a token has nothing to do with it."""
        missing = response.headers.get("X-Error-Code") in _NOT_THERE
        if response.status_code not in _REFUSALS or missing or not self._answered(response):
            return ""
        page = f"{shown(str(self._hub)).rstrip('/')}/{self._repo}"
        return (
            f". {self._state()} If the repository is gated or private: accept its licence at {page}, then "
            f"{self._remedy()}"
        )

    def _obstacle(self) -> str | None:
        """Why no token may be sent there."""
        if self._hub.userinfo:
            return "HF_ENDPOINT has a name and a password of its own."
        if self._hub.scheme != "https" and not (self._hub.scheme == "http" and is_loopback(self._hub.host)):
            return f"the connection to {self._hub.host} is not encrypted. Set HF_ENDPOINT to an https:// address."
        return None

    def _answered(self, response: httpx.Response) -> bool:
        """Whether it was the hub, not where it redirected to."""
        return (response.url.scheme, response.url.netloc) == (self._hub.scheme, self._hub.netloc)

    def _state(self) -> str:
        if self._token is None:
            return f"No token was sent: {self._why_not or 'there is none.'}"
        return f"The token {self._words()} {'is not accepted' if self._rejected else 'does not open it'}."

    def _words(self) -> str:
        if self._token is None:
            return ""
        return f"in {self._token.path}" if self._token.place is TokenPlace.FILE else self._token.place.value

    def _remedy(self) -> str:
        if self._token is not None and self._token.place is TokenPlace.VARIABLE:
            return f"set {VARIABLE} to a token that may read it."
        return "save a token that may read it: 'pinfill models token --set', or Settings in the window."


def shown(url: str) -> str:
    """A URL as people may see it: without the name and the password that may be in it."""
    return str(httpx.URL(url).copy_with(userinfo=b""))
