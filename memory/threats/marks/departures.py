"""Marks of what leaves the machine."""

from __future__ import annotations

from memory.threats.categories import EXFILTRATION
from memory.threats.shapes import LIKELY, any_of, shape

SENDER = any_of(
    r"(?:curl|wget|ncat|nc|invoke-webrequest|iwr|invoke-restmethod|requests\.post|http_post|sendbeacon|scp)\b",
    r"fetch\(",
)
SENDERS = [
    "curl ",
    "wget ",
    "ncat ",
    " nc ",
    "iwr ",
    "invoke-",
    "requests.post",
    "http_post",
    "sendbeacon",
    "scp ",
    "fetch(",
]
CARRIED = (
    r"(?:-d|-f|-t|--data[\w-]{0,12}|--form|--upload-file|--post-data|--post-file|body|[?&]\w{1,20})"
    r"[ =:\"'@]{1,4}\S{0,40}?"
    + any_of(
        r"\$\{?\w{0,20}(?:key|token|secret|pass|cred)",
        r"\.env\b",
        r"\.ssh\b",
        "id_rsa",
        "/etc/(?:passwd|shadow)",
        r"\$\(",
        "`",
        r"\.aws",
        r"@\$",
        r"@\w",
        r"data\b",
    )
)
PRIVATE_FILE = any_of(
    r"\.ssh/(?:id_|\*|config)",
    r"id_(?:rsa|ed25519)\b(?!\.pub)",
    "/etc/(?:shadow|passwd)",
    r"\.aws/credentials",
    r"\.(?:bash|zsh)_history",
    r"\.netrc",
    r"\.npmrc",
    r"\.git-credentials",
    r"\.pypirc",
    r"\.kube/config",
    r"\.gnupg",
    r"wallet\.dat",
    r"\.config/gcloud",
)
PRIVATE_FILES = [
    ".ssh/",
    "id_rsa",
    "id_ed25519",
    "/etc/passwd",
    "/etc/shadow",
    ".aws/",
    "_history",
    ".netrc",
    ".npmrc",
    ".git-credentials",
    ".pypirc",
    ".kube/",
    ".gnupg",
    "wallet.dat",
    "gcloud",
]
COLLECTOR = any_of(
    r"webhook\.site",
    "requestbin",
    r"pipedream\.net",
    "burpcollaborator",
    r"oastify\.com",
    r"interact\.sh",
    r"\.oast\.",
    r"ngrok(?:-free)?\.(?:io|app|dev)",
    r"\.onion\b",
    r"pastebin\.com/raw",
    "hookbin",
    "canarytokens",
    r"transfer\.sh",
)
COLLECTORS = [
    "webhook.site",
    "requestbin",
    "pipedream",
    "burpcollab",
    "oastify",
    "interact.sh",
    ".oast.",
    "ngrok",
    ".onion",
    "pastebin",
    "hookbin",
    "canarytokens",
    "transfer.sh",
]
FOE = r"(?:evil|attacker|exfil|malicious|hacker|phish)[\w-]{0,30}\.[a-z]{2,10}\b"
FOES = ["evil", "attacker", "exfil", "malicious", "hacker", "phish"]

MARKS = (
    shape(
        EXFILTRATION,
        SENDERS,
        SENDER,
        CARRIED,
        r"https?://|\.[a-z]{2,6}\b",
    ),
    shape(
        EXFILTRATION,
        [*COLLECTORS, *FOES],
        rf"{COLLECTOR}|{FOE}",
        rf"{SENDER}|\b(?:send|post|upload|forward|append|bcc|email)\b",
    ),
    shape(
        EXFILTRATION,
        ["169.254.169.254", "metadata.google"],
        r"169\.254\.169\.254|metadata\.google\.internal",
        r"\b(?:curl|wget|fetch\w{0,8}|call|get|visit|open|read|request)\b",
    ),
    shape(
        EXFILTRATION,
        PRIVATE_FILES,
        PRIVATE_FILE,
        r"\b(?:send|post|upload|exfiltrate|leak|curl|forward|email|transmit|share|append)\b",
    ),
    shape(
        EXFILTRATION,
        [".env"],
        r"(?<![\w.])\.env\b(?![.\w])",
        r"\b(?:send|post|upload|exfiltrate|leak|curl|forward|email|transmit)\b",
        r"\b(?:to|them|it)\b",
    ),
    shape(
        EXFILTRATION,
        PRIVATE_FILES,
        rf"(?:read_file|\bcat\b)\W{{1,6}}(?:path\W{{1,6}})?\S{{0,40}}?(?:{PRIVATE_FILE})",
    ),
    shape(
        EXFILTRATION,
        PRIVATE_FILES,
        PRIVATE_FILE,
        r"\b(?:read|open|include|print|show|extract|dump|output|reveal)\b",
        r"\b(?:response|reply|answer|include|and|output|contents?)\b",
        weight=LIKELY,
    ),
    shape(
        EXFILTRATION,
        ["](http"],
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}?[?&]\w{1,20}=(?:\{|\$|%7b|<|\[)",
    ),
    shape(
        EXFILTRATION,
        [*COLLECTORS, *FOES],
        rf"{COLLECTOR}|(?:https?://|@)[\w.-]{{0,40}}{FOE}",
        weight=LIKELY,
    ),
    shape(
        EXFILTRATION,
        ["always", "every time", "each time", "whenever"],
        r"\b(?:always|every time|each time|whenever)\b",
        r"@[\w-]{1,40}\.[a-z]{2,}|https?://",
        r"\b(?:send|forward|bcc|cc|copy|upload|sync|back ?up|mirror)\b",
        r"\b(?:data|files?|emails?|attachments?|documents?|transcripts?|summar\w+|conversations?|credentials|code|logs|exports?|copy|notes|repos?itory)\b",
    ),
    shape(
        EXFILTRATION,
        ["fetch_", "fetch(", "http_get", "open_url"],
        r"(?:fetch_\w{1,12}|http_get|open_url)\b",
        any_of(
            r"https?://(?:10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|localhost|169\.254|[\w.-]{1,60}\.onion)",
            r"pastebin\.com/raw",
        ),
    ),
)
