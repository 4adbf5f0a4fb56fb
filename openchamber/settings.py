"""The one settings file: environment in, defaults that run on a fresh machine."""

import os
from pathlib import Path
from typing import Any

import dj_database_url
import platformdirs
from django.core.exceptions import ImproperlyConfigured

from openchamber import data_directory

BASE_DIR = Path(__file__).resolve().parent.parent


def flag(name: str) -> bool:
    """Whether the environment variable `name` says yes (1, true, yes, on)."""
    return os.environ.get(name, "").strip().lower() in {"1", "true", "yes", "on"}


def number(name: str, default: float, *, at_least: float) -> float:
    """The environment variable `name` as a number; refuses what is none, or too small."""
    given = os.environ.get(name, "").strip()
    try:
        found = float(given) if given else float(default)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a number, not {given!r}.") from None
    if not found >= at_least:
        raise ImproperlyConfigured(f"{name} must be at least {at_least:g}, not {given}.")
    return found


def log_level(default: str) -> str:
    """How much is logged, by the names that Python's logging knows, in either case."""
    given = os.environ.get("OPENCHAMBER_LOG_LEVEL", "").strip().upper() or default
    levels = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
    if given not in levels:
        raise ImproperlyConfigured(f"OPENCHAMBER_LOG_LEVEL must be one of {', '.join(levels)}, not {given!r}.")
    return given


DATA_DIR = data_directory.prepare(
    Path(os.environ.get("OPENCHAMBER_DATA_DIR") or platformdirs.user_data_path("openchamber")).expanduser().absolute()
)
SECRET_KEY = data_directory.secret_key(DATA_DIR)
DEBUG = flag("OPENCHAMBER_DEBUG")

# What the product itself reads; names and defaults are in the README.
MEMORY_INSTALLED = flag("OPENCHAMBER_MEMORY_ENABLE")
OPENCODE_URL = os.environ.get("OPENCHAMBER_OPENCODE_URL", "")
OPENCODE_PASSWORD = os.environ.get("OPENCHAMBER_OPENCODE_PASSWORD", "")
CONTEXT_BUDGET = int(number("OPENCHAMBER_CONTEXT_BUDGET", 24_000, at_least=2_000))  # characters
CONTEXT_TIMEOUT = number("OPENCHAMBER_CONTEXT_TIMEOUT", 1, at_least=0.01)  # seconds
ENVIRONMENT_TOKEN = os.environ.get("OPENCHAMBER_TOKEN", "")

HOST_NAMES = [name.strip() for name in os.environ.get("OPENCHAMBER_ALLOWED_HOSTS", "").split(",") if name.strip()]
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *HOST_NAMES]

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "simple_history",
    "openchamber",
    "knowledge",
    *(["memory"] if MEMORY_INSTALLED else []),
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "openchamber.middleware.security_headers",
    "openchamber.middleware.json_errors",
    *(["openchamber.middleware.encrypted_transport"] if HOST_NAMES else []),
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "openchamber.middleware.SignInRequired",
    "openchamber.middleware.toasts",
    "openchamber.middleware.Problems",
]

ROOT_URLCONF = "openchamber.urls"
ASGI_APPLICATION = "openchamber.asgi.application"
LOGIN_URL = "openchamber:sign-in"
LOGIN_REDIRECT_URL = "/"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "openchamber.panel.frame",
            ],
            # Django 6 has partials built in; this spells them the same way on 5.2.
            "builtins": ["template_partials.templatetags.partials"],
        },
    },
]


def database(url: str) -> dict[str, Any]:
    """The database that `url` names, SQLite in the data directory where it is empty; refuses what we do not know."""
    if not url:
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(DATA_DIR / "openchamber.sqlite3")}
    if url.partition(":")[0] not in {"postgres", "postgresql", "pgsql", "sqlite"}:
        raise ImproperlyConfigured("DATABASE_URL must begin with postgres:// or sqlite://.")
    return dict(dj_database_url.parse(url, conn_max_age=0))


DATABASE_URL = os.environ.get("DATABASE_URL", "")
DATABASES: dict[str, Any] = {"default": database(DATABASE_URL)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["ENGINE"] = "openchamber.sqlite"  # the threads of one process write in turn
    DATABASES["default"]["OPTIONS"] = {
        # A transaction takes the write lock at once, so that it waits for its turn instead of failing.
        "transaction_mode": "IMMEDIATE",
        "timeout": 5,
        # The search reads many pages of its index, which are read where they lie.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=268435456;",
    }
else:
    DATABASES["default"]["OPTIONS"] = {"pool": True}
# Rendered rows of lists, in each process for itself; nothing that other processes must hear of.
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 3000}},
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Cookies are shared across the ports of one host name, so ours have names of their own.
SESSION_COOKIE_NAME = "openchamber_session"
CSRF_COOKIE_NAME = "openchamber_csrf"
LANGUAGE_COOKIE_NAME = "openchamber_language"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Strict"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "openchamber.middleware.csrf_failed"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
# A request body at most: a plan of a million characters, escaped as JSON, takes up to 12 MB.
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024
# Files that are imported come as multipart and count together.
UPLOAD_LIMIT = 64 * 1024 * 1024

# Served under a host name, the panel is on a network: everything goes over TLS there (a proxy
# in front brings it). On the loopback address plain http goes on working.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = bool(HOST_NAMES)
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HOST_NAMES else 0
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # sub-domains of the host that runs us are not ours to promise for
    "security.W008",  # middleware.encrypted_transport redirects: Django's own knows no exception for loopback
    "security.W021",  # nor is the name ours to put on the browsers' preload lists
]

LANGUAGE_CODE = "en"
# The complete ones: adding another is described in docs/languages.md.
LANGUAGES = [("en", "English"), ("uk", "Українська")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    # 502 says that the agent server is away: the page tells it to whoever looks, and the watcher's line tells it once.
    "filters": {
        "ours": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: getattr(record, "status_code", 0) != 502,
        }
    },
    "formatters": {"plain": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": log_level("WARNING")},
    "loggers": {
        "openchamber": {"level": log_level("INFO")},
        # Every 4xx is a warning there, and a foreign host name a traceback: neither is a fault of this server.
        "django.request": {"level": "ERROR", "filters": ["ours"]},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        # Its warnings name the path, and the path of a sign-in link is the secret.
        "django.security.csrf": {"level": "ERROR"},
    },
}
