"""Shapes: what threatens by its form and not by its words, such as marks of a turn, commands and keys.

A shape is found where its first expression stands and all its others stand near it, in the same line. Every expression
is bounded, so that no input makes it slow; its needles are looked for first, because that costs next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.threats.rules import CREDENTIALS, ENOUGH, EXFILTRATION, HIDDEN, REMOTE, TURNS

# How far the others may stand from the first, and what a needle stands in, in characters.
BEFORE, AFTER = 200, 400
AROUND = 80
LIKELY = 2


@dataclass(frozen=True, slots=True)
class Shape:
    """A form: its category, what it counts (like a rule), words one of which every such text has, its expressions,
    and whether case matters."""

    category: str
    weight: int
    needles: tuple[str, ...]
    expressions: tuple[re.Pattern[str], ...]
    exact: bool

    @property
    def name(self) -> str:
        """What tells it from the others."""
        return self.expressions[0].pattern

    def find(self, text: str) -> re.Match[str] | None:
        """Its first expression round one of its needles, with all the others near it."""
        first, *others = self.expressions
        for match in self._firsts(first, text):
            near = line_round(text, match) if others else ""
            if all(other.search(near) for other in others):
                return match
        return None

    def _firsts(self, first: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
        """Where the first expression stands round a needle; not twice where the others are looked for at once."""
        for needle in self.needles:
            position = begin = 0
            while (position := text.find(needle, position)) >= 0:
                begin = max(begin, position - AROUND)
                end = position + AFTER
                if match := first.search(text, begin, end):
                    yield match
                    begin = max(match.end(), match.start() + BEFORE)
                    position = max(position + 1, begin - AROUND)
                else:
                    # The needles that stand wholly in what was looked at need no second look.
                    position = max(position + 1, end - 2 * AROUND)


def line_round(text: str, match: re.Match[str]) -> str:
    """What stands round a match in its line."""
    begin = max(text.rfind("\n", 0, match.start()) + 1, match.start() - BEFORE)
    end = text.find("\n", match.end(), match.end() + AFTER)
    return text[begin : end if end >= 0 else match.end() + AFTER]


def shape(category: str, needles: str, *expressions: str, weight: int = ENOUGH, exact: bool = False) -> Shape:
    """A shape of lowered text, or with `exact` of the text as it is. Needles are separated by commas."""
    compiled = tuple(map(re.compile, expressions))
    return Shape(category, weight, tuple(needles.split(",")), compiled, exact)


def found(text: str) -> Iterator[tuple[Shape, re.Match[str]]]:
    """A place of every shape that a text has."""
    lowered = text.lower()
    for each in SHAPES:
        if match := each.find(text if each.exact else lowered):
            yield each, match


SENDER = r"(?:curl|wget|ncat|nc|invoke-webrequest|iwr|invoke-restmethod|requests\.post|http_post|sendbeacon|scp)\b|fetch\("
SENDERS = "curl ,wget ,ncat , nc ,iwr ,invoke-,requests.post,http_post,sendbeacon,scp ,fetch("
CARRIED = (
    r"(?:-d|-f|-t|--data[\w-]{0,12}|--form|--upload-file|--post-data|--post-file|body|[?&]\w{1,20})[ =:\"'@]{1,4}\S{0,40}?"
    r"(?:\$\{?\w{0,20}(?:key|token|secret|pass|cred)|\.env\b|\.ssh\b|id_rsa|/etc/(?:passwd|shadow)|\$\(|`|\.aws|@\$|@\w|data\b)"
)
PRIVATE_FILES = ".ssh/,id_rsa,id_ed25519,/etc/passwd,/etc/shadow,.aws/,_history,.netrc,.npmrc,.git-credentials,.pypirc,.kube/,.gnupg,wallet.dat,gcloud"
PRIVATE_FILE = (
    r"\.ssh/(?:id_|\*|config)|id_(?:rsa|ed25519)\b(?!\.pub)|/etc/(?:shadow|passwd)|\.aws/credentials|\.(?:bash|zsh)_history"
    r"|\.netrc|\.npmrc|\.git-credentials|\.pypirc|\.kube/config|\.gnupg|wallet\.dat|\.config/gcloud"
)
COLLECTORS = "webhook.site,requestbin,pipedream,burpcollab,oastify,interact.sh,.oast.,ngrok,.onion,pastebin,hookbin,canarytokens,transfer.sh"
COLLECTOR = (
    r"webhook\.site|requestbin|pipedream\.net|burpcollaborator|oastify\.com|interact\.sh|\.oast\.|ngrok(?:-free)?\.(?:io|app|dev)"
    r"|\.onion\b|pastebin\.com/raw|hookbin|canarytokens|transfer\.sh"
)
FOES = "evil,attacker,exfil,malicious,hacker,phish"
FOE = r"(?:evil|attacker|exfil|malicious|hacker|phish)[\w-]{0,30}\.[a-z]{2,10}\b"
AGENT_CONFIG = (
    r"\.claude/(?:settings|hooks|claude)|\.cursor/(?:mcp|rules)|\.continue/config|claude_desktop_config|\.mcp\.json|\.codex/config"
    r"|opencode\.jsonc?\b|\.gemini/settings|\.vscode/(?:settings|tasks)"
)
SHELL = r"\|\s?(?:sudo )?(?:ba|z|da|k)?sh\b|\|\s?(?:python3?|node|iex|perl|ruby)\b"
VALUE = (
    r"(?=[^\s\"']{0,40}\d)(?=[^\s\"']{0,40}[a-z])(?![^\s\"']{0,40}(?:example|xxx|your|changeme|placeholder|\*\*|\.\.\.|process|"
    r"env|os\.|get|none|null|test|[<{$(\[]))[^\s\"',;]{10,}"
)

SHAPES: tuple[Shape, ...] = (
    # turns that nobody took
    shape(TURNS, "<|", r"<\|(?:im_start|im_end|im_sep|system|user|assistant|end|endoftext|eot_id|(?:start|end)_header_id)\|>"),
    shape(TURNS, "[INST],[/INST],<<SYS>>,<</SYS>>", r"\[/?INST\]|<</?SYS>>", exact=True),
    shape(TURNS, "override>", r"<(?:admin|system|root|sudo|developer)[ _-]?override>"),
    shape(TURNS, "{user:", r"\{user:\s?[\"']"),
    shape(TURNS, "</system>", r"</system>\s{0,4}<(?:user|human|assistant)>"),
    shape(TURNS, "[system", r"\[system(?: message| note| prompt| override)?\](?!\()", weight=LIKELY),
    shape(TURNS, "system:,assistant:,developer:", r"(?:^|\n)\W{0,6}(?:system|assistant|developer):\s", weight=LIKELY),
    shape(TURNS, "SYSTEM:,SYSTEM ", r"(?:^|\n|[.!] )\W{0,6}SYSTEM(?: [A-Z]+)?:\s", weight=LIKELY, exact=True),
    shape(TURNS, "instruction:,response:", r"\n#{2,4} ?(?:system|instruction|response):", weight=LIKELY),
    shape(TURNS, "<thinking>,<scratchpad>,<thought>,<reasoning>", r"<(?:thinking|scratchpad|thought|reasoning)>", weight=LIKELY),
    # what leaves the machine
    shape(EXFILTRATION, SENDERS, SENDER, CARRIED, r"https?://|\.[a-z]{2,6}\b"),
    shape(EXFILTRATION, f"{COLLECTORS},{FOES}", rf"{COLLECTOR}|{FOE}", rf"{SENDER}|\b(?:send|post|upload|forward|append|bcc|email)\b"),
    shape(EXFILTRATION, "169.254.169.254,metadata.google", r"169\.254\.169\.254|metadata\.google\.internal",
          r"\b(?:curl|wget|fetch\w{0,8}|call|get|visit|open|read|request)\b"),
    shape(EXFILTRATION, PRIVATE_FILES, PRIVATE_FILE, r"\b(?:send|post|upload|exfiltrate|leak|curl|forward|email|transmit|share|append)\b"),
    shape(EXFILTRATION, ".env", r"(?<![\w.])\.env\b(?![.\w])", r"\b(?:send|post|upload|exfiltrate|leak|curl|forward|email|transmit)\b", r"\b(?:to|them|it)\b"),
    shape(EXFILTRATION, PRIVATE_FILES, rf"(?:read_file|\bcat\b)\W{{1,6}}(?:path\W{{1,6}})?\S{{0,40}}?(?:{PRIVATE_FILE})"),
    shape(EXFILTRATION, PRIVATE_FILES, PRIVATE_FILE, r"\b(?:read|open|include|print|show|extract|dump|output|reveal)\b", r"\b(?:response|reply|answer|include|and|output|contents?)\b", weight=LIKELY),
    shape(EXFILTRATION, "](http", r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}?[?&]\w{1,20}=(?:\{|\$|%7b|<|\[)"),
    shape(EXFILTRATION, f"{COLLECTORS},{FOES}", rf"{COLLECTOR}|(?:https?://|@)[\w.-]{{0,40}}{FOE}", weight=LIKELY),
    # what runs
    shape(REMOTE, "curl ,wget ,iwr ,irm ", r"\b(?:curl|wget|iwr|irm) ", SHELL, weight=LIKELY),
    shape(REMOTE, "curl|,curl |", r"curl ?\| ?(?:ba)?sh\b"),
    shape(REMOTE, "base64 -,base64 --", r"base64 (?:-d|--decode)\b", SHELL),
    shape(REMOTE, "/dev/tcp/", r"/dev/tcp/"),
    shape(REMOTE, "bash -i,nc -,ncat -", r"\bnc(?:at)? (?:-\w{0,4} )?-\w{0,3}e\b|\bbash -i\b\s?>&"),
    shape(REMOTE, "rm -", r"rm -(?:rf|fr|r -f|f -r)\w?\s{1,3}(?:--no-preserve-root\s)?[\"']?(?:/|~|\$home|/\*)(?:[\"'\s;<,.)]|$)"),
    shape(REMOTE, ":(){", r":\(\)\s?\{\s?:\|:"),
    shape(REMOTE, "eval(,exec(", r"(?:eval|exec)\(\s?(?:atob|base64|requests\.get|urllib|await fetch|fetch|__import__|compile)"),
    shape(REMOTE, "authorized_keys", r">>?\s?\S{0,40}authorized_keys"),
    shape(REMOTE, "userpromptsubmit,pretooluse,posttooluse,sessionstart,postinstall,preinstall",
          r"userpromptsubmit|pretooluse|posttooluse|sessionstart|p(?:ost|re)install\b[\"']?:", rf"\b(?:curl|wget|nc|iwr)\b|{AGENT_CONFIG}", r"https?://|\bcp\b|\|"),
    shape(REMOTE, "write_file,edit_file,create_file,append_file,update_file", r"(?:write|edit|create|append|update)_file\b",
          rf"{AGENT_CONFIG}|/etc/|/usr/bin|systemd|\.bashrc|\.zshrc|\.profile|crontab|authorized_keys"),
    shape(REMOTE, "alias ", r"alias (?:claude|codex|opencode|sudo|git|ssh)="),
    shape(REMOTE, "--dangerously,dangerously_,dangerouslyd,--yolo,sandbox", r"--dangerously-(?:skip|bypass|disable)[-\w]{3,40}|dangerously_?disable\w{3,20}|--yolo\b|\"?sandbox\"?: ?[\"']?(?:disabled|false|off|none)"),
    shape(REMOTE, "release_agent,nsenter ,/proc/1/,unshare ,mknod ,prog_load,insmod ,notify_on_release",
          r"release_agent\b|notify_on_release|nsenter\b[^\n]{0,60}\b1\b|/proc/1/(?:ns|root)\b|unshare\b[^\n]{0,40}/bin/|bpf_prog_load|mknod \S{1,40} b \d|insmod \./"),
    shape(TURNS, "<information>", r"<information>\s{0,9}\w"),
    shape(EXFILTRATION, "@,http", r"@[\w-]{1,40}\.[a-z]{2,}|https?://", r"\b(?:always|every time|each time|whenever)\b", r"\b(?:send|forward|bcc|cc|copy|upload|sync|back ?up|mirror)\b", r"\b(?:data|files?|emails?|attachments?|documents?|transcripts?|summar\w+|conversations?|credentials|code|logs|exports?|copy|notes|repos?itory)\b"),
    shape(EXFILTRATION, "fetch_,fetch(,http_get,open_url", r"(?:fetch_\w{1,12}|http_get|open_url)\b", r"https?://(?:10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|localhost|169\.254|[\w.-]{1,60}\.onion)|pastebin\.com/raw"),
    shape(REMOTE, "terraform destroy,kubectl delete,drop database,drop schema,of=/dev/,--skip-,push --force,push -f",
          r"terraform destroy\b[^\n]{0,40}-auto-approve|kubectl delete (?:\S{1,20} )?(?:--all\b|ns\b|namespaces?\b)|drop (?:database|schema) \w|\bof=/dev/[shnv]|--skip-(?:validation|verification|checks|auth)|git push (?:--force|-f) [^\n]{0,30}\b(?:main|master)\b"),
    shape(REMOTE, "chmod ", r"chmod (?:-r )?0?777 /(?!tmp)|chmod u?\+s "),
    shape(REMOTE, "chroot /host,core_pattern,-v /:/,/proc/self/exe,dirty pipe,dirty cow,cve-",
          r"chroot /host|/proc/sys/kernel/core_pattern|-v /:/|/proc/self/exe|dirty (?:pipe|cow)\b|\b(?:poc|exploit|shellcode)\b[^\n]{0,30}cve-\d{4}-\d|cve-\d{4}-\d{3,7}[^\n]{0,30}\b(?:poc|exploit|shellcode)\b"),
    shape(REMOTE, "allow\":,allowlist\":,bind\":,autoapprove,requireapproval,skippermissions,bypasspermissions,browsercontrol\":,discovery\":,mdns\":",
          r"\"allow\": ?\[[^\]\n]{0,80}\"(?:exec|shell|bash|gateway|\*)\"|\"allow_?list\": ?\[\"\*\"|\"bind\": ?\"(?:lan|all|public)\"|\"?auto_?approve\w{0,10}\"?: ?(?:true|\"(?:all|\*))|require_?approval\"?: ?false|bypasspermissions|skippermissions|\"browsercontrol\": ?true|\"(?:discovery|mdns)\": ?\"full\""),
    # keys
    shape(CREDENTIALS, "AKIA,ASIA", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", exact=True),
    shape(CREDENTIALS, "ghp_,gho_,ghu_,ghs_,ghr_", r"gh[pousr]_[A-Za-z0-9]{30,}", exact=True),
    shape(CREDENTIALS, "github_pat_,glpat-,npm_,hf_", r"github_pat_\w{30,}|glpat-[\w-]{18,}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z]{30,}", exact=True),
    shape(CREDENTIALS, "sk-", r"\bsk-(?:proj-|ant-|or-)?(?=[\w-]{0,40}\d)[A-Za-z0-9_-]{24,}", exact=True),
    shape(CREDENTIALS, "sk_live_,rk_live_,xoxb-,xoxp-,xoxa-,AIza", r"[sr]k_live_[A-Za-z0-9]{16,}|xox[abp]-\d[\w-]{10,}|AIza[\w-]{35}\b", exact=True),
    shape(CREDENTIALS, "PRIVATE KEY", r"-----BEGIN (?:[A-Z]{2,12} )?PRIVATE KEY(?: BLOCK)?-----", exact=True),
    shape(CREDENTIALS, "password,passwd,api_key,apikey,api-key,secret_key,client_secret,access_token,auth_token,passphrase",
          rf"(?:password|passwd|passphrase|api[_-]?key|secret_key|client_secret|access[_-]?token|auth[_-]?token)\b[\"']?\s?(?:is|[:=])\s?[\"']?{VALUE}"),
    shape(CREDENTIALS, "social security", r"social security number\W{1,3}\d{3}"),
    # what nobody sees
    shape(HIDDEN, "\u202e,\u202d", "[\u202d\u202e][^\u202c\n]{3,200}"),
)
