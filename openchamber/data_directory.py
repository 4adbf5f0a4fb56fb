"""The data directory: private to its owner, made when it is first needed."""

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

PANEL = "panel"


def prepare(directory: Path) -> Path:
    """Make `directory` (mode 0700, also when it was there already) and give it back."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        directory.chmod(0o700)
    except OSError as error:
        reason = f"The data directory {directory} cannot be used: {error.strerror}."
        raise ImproperlyConfigured(f"{reason} Choose another with OPENCHAMBER_DATA_DIR.") from error
    return directory


def secret_key(directory: Path) -> str:
    """The installation's secret key, generated once into `directory`/secret_key (mode 0600).

    Two processes that start at the same moment must agree on one key, so the file is
    written whole under another name and linked into place: the first link wins.
    """
    path = directory / "secret_key"
    if not path.exists():
        draft = directory / f".secret_key.{os.getpid()}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(48))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass  # another process was first: its key is the key
        finally:
            draft.unlink()
    return path.read_text().strip()


# Where the panel can be reached, for commands that run beside it ----------------------------


def tell_panel(directory: Path, url: str) -> None:
    """Write down that a panel of this installation answers at `url`; of several the last one stays."""
    draft = directory / f".panel.{os.getpid()}"
    draft.write_text(f"{url}\n")
    draft.replace(directory / PANEL)


def panel(directory: Path) -> str:
    """Where the panel that started last answers (or did, when it was killed); "" where none was written down."""
    try:
        return (directory / PANEL).read_text().strip()
    except OSError:
        return ""


def forget_panel(directory: Path, url: str) -> None:
    """The panel at `url` ends; another one that started after it stays written down."""
    if panel(directory) == url:
        (directory / PANEL).unlink(missing_ok=True)
