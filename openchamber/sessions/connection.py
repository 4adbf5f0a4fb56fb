"""The way to one agent server: a pool of connections, and one exception for whatever goes wrong on it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx2
from django.utils.translation import gettext as _

from openchamber.texts import storable_data

ID = re.compile(r"[A-Za-z0-9_-]{1,200}")
TIMEOUT = httpx2.Timeout(10, connect=2)
# Half a character, or null, as JSON escapes them; also the halves of a whole one.
ESCAPED = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)")


Read = TypeVar("Read")


class AgentServerError(Exception):
    """The agent server did not do what was asked; the text is for a person."""


class Unreachable(AgentServerError):
    """Nobody answers there, or nobody that speaks OpenCode's language."""


class NotConnected(Unreachable):
    """Nobody took the call, so nothing was sent."""


class Missing(AgentServerError):
    """The agent server knows no such session, message or request."""


class Refused(AgentServerError):
    """The agent server answered, and said no."""


class Connection:
    """Requests to one address. Instances share its pool and may be used by any thread."""

    def __init__(self, url: str, password: str = "") -> None:
        self.url = url.rstrip("/")
        self.http = _pool(self.url, password)

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """One request; raises `Unreachable`, or what its error status means. Ids in `path` went through `named`."""
        params = options.get("params") or {}
        if "directory" in params:  # decoded twice over there: `a%2Fb` would be another directory, in which agents work
            options["params"] = {**params, "directory": params["directory"].replace("%", "%25")}
        with speaking(self.url):
            response = self.http.request(method, path, **options)
        if response.status_code >= 400:
            raise self.refusal(response)
        return response

    def json(self, method: str, path: str, **options: Any) -> Any:
        """One request's answer as plain data."""
        return self.body(self.request(method, path, **options))

    def body(self, response: httpx2.Response, *, exact: bool = False) -> Any:
        """An answer's data, None when it is empty. An unknown path answers 200 with a page: that is no data.

        Its texts are such as we can keep and show, unless it is wanted `exact`: to be written back.
        """
        if response.status_code == 204 or not response.content:
            return None
        if "json" not in response.headers.get("content-type", ""):
            raise Unreachable(_("%(url)s answered with a page instead of data.") % {"url": self.url})
        try:
            data = response.json()
            return data if exact or ESCAPED.search(response.content) is None else storable_data(data)
        except (ValueError, RecursionError) as error:
            raise Unreachable(_("%(url)s answered with broken data.") % {"url": self.url}) from error

    def read(self, reader: Callable[[Any], Read], answer: Any) -> Read:
        """An answer as what it tells of; `Unreachable` when it has another shape than the version that we know."""
        try:
            return reader(answer)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise Unreachable(
                _("%(url)s answered with something that OpenChamber does not know.") % {"url": self.url}
            ) from error

    def refusal(self, response: httpx2.Response) -> AgentServerError:
        """What an error status means, in the server's own words where it has some."""
        if response.status_code == 401:
            return Refused(_("The agent server at %(url)s wants another password.") % {"url": self.url})
        text = problem_text(response)
        if response.status_code == 404 or _misspelt(response):
            return Missing(text or _("The agent server knows nothing of that kind."))
        return Refused(text or _("The agent server answered %(status)s.") % {"status": response.status_code})


def named(name: str) -> str:
    """A session's, message's or request's id as a part of a path. What is none can be nowhere: it is `Missing`.

    Ids come from anybody: none must lead to another path, to which we would go with the server's password.
    """
    if not ID.fullmatch(name):
        raise Missing(_("The agent server knows nothing of that kind."))
    return name


def _misspelt(response: httpx2.Response) -> bool:
    """Whether an id in the path has not the form of one, so that nothing can be called so."""
    if response.status_code != 400 or "json" not in response.headers.get("content-type", ""):
        return False
    body = response.json()
    data = body.get("data") if isinstance(body, dict) else None
    return isinstance(data, dict) and data.get("kind") == "Params"


def problem_text(response: httpx2.Response) -> str:
    """What an error answer says: the server has three shapes for it, and HTML."""
    try:
        body = response.json()
    except ValueError:
        return ""
    if not isinstance(body, dict):
        return ""
    data = body.get("data")
    nested = data.get("message") if isinstance(data, dict) else None
    return str(nested or body.get("message") or body.get("_tag") or "")


_pools: dict[tuple[str, str], httpx2.Client] = {}
_pools_lock = threading.Lock()


def _pool(url: str, password: str) -> httpx2.Client:
    """The connection pool of an address: pooling saves a handshake on every request of a send."""
    with _pools_lock:
        client = _pools.get((url, password))
        if client is None:
            # No proxies from the environment: an agent server is named by its own address.
            client = httpx2.Client(
                base_url=url,
                auth=("opencode", password) if password else None,
                timeout=TIMEOUT,
                trust_env=False,
                limits=httpx2.Limits(max_connections=64, max_keepalive_connections=16, keepalive_expiry=4),
            )
            _pools[url, password] = client
        return client


@contextmanager
def speaking(url: str) -> Iterator[None]:
    """Whatever goes wrong on the way becomes `Unreachable`."""
    try:
        yield
    except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
        raise NotConnected(_("No agent server can be reached at %(url)s.") % {"url": url}) from error
    except httpx2.TimeoutException as error:
        raise Unreachable(_("The agent server at %(url)s did not answer in time.") % {"url": url}) from error
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise Unreachable(_("The agent server at %(url)s broke off.") % {"url": url}) from error
