"""Marks of keys, and of what nobody sees."""

from __future__ import annotations

from memory.threats.categories import CREDENTIALS, HIDDEN
from memory.threats.shapes import any_of, shape

PLACEHOLDERS = r"example|xxx|your|changeme|placeholder|\*\*|\.\.\.|process|env|os\.|get|none|null|test|[<{$(\[]"
# What looks like a secret: letters and digits, and no placeholder.
VALUE = (
    r"(?=[^\s\"']{0,40}\d)(?=[^\s\"']{0,40}[a-z])"
    rf"(?![^\s\"']{{0,40}}(?:{PLACEHOLDERS}))[^\s\"',;]{{10,}}"
)

MARKS = (
    shape(
        CREDENTIALS,
        ["AKIA", "ASIA"],
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
        exact=True,
    ),
    shape(
        CREDENTIALS,
        ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        "gh[pousr]_[A-Za-z0-9]{30,}",
        exact=True,
    ),
    shape(
        CREDENTIALS,
        ["github_pat_", "glpat-", "npm_", "hf_"],
        any_of(
            r"github_pat_\w{30,}",
            r"glpat-[\w-]{18,}",
            "npm_[A-Za-z0-9]{36}",
            "hf_[A-Za-z]{30,}",
        ),
        exact=True,
    ),
    shape(
        CREDENTIALS,
        ["sk-"],
        r"\bsk-(?:proj-|ant-|or-)?(?=[\w-]{0,40}\d)[A-Za-z0-9_-]{24,}",
        exact=True,
    ),
    shape(
        CREDENTIALS,
        ["sk_live_", "rk_live_", "xoxb-", "xoxp-", "xoxa-", "AIza"],
        r"[sr]k_live_[A-Za-z0-9]{16,}|xox[abp]-\d[\w-]{10,}|AIza[\w-]{35}\b",
        exact=True,
    ),
    shape(
        CREDENTIALS,
        ["PRIVATE KEY"],
        "-----BEGIN (?:[A-Z]{2,12} )?PRIVATE KEY(?: BLOCK)?-----",
        exact=True,
    ),
    shape(
        CREDENTIALS,
        [
            "password",
            "passwd",
            "api_key",
            "apikey",
            "api-key",
            "secret_key",
            "client_secret",
            "access_token",
            "auth_token",
            "passphrase",
        ],
        rf"(?:password|passwd|passphrase|api[_-]?key|secret_key|client_secret|access[_-]?token|auth[_-]?token)\b[\"']?\s?(?:is|[:=])\s?[\"']?{VALUE}",
    ),
    shape(
        CREDENTIALS,
        ["social security"],
        r"social security number\W{1,3}\d{3}",
    ),
    shape(
        HIDDEN,
        ["\u202e", "\u202d"],
        "[\u202d\u202e][^\u202c\n]{3,200}",
    ),
)
