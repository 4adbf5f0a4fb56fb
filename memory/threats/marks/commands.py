"""Marks of what runs."""

from __future__ import annotations

from memory.threats.categories import REMOTE
from memory.threats.shapes import LIKELY, any_of, shape

AGENT_CONFIG = any_of(
    r"\.claude/(?:settings|hooks|claude)",
    r"\.cursor/(?:mcp|rules)",
    r"\.continue/config",
    "claude_desktop_config",
    r"\.mcp\.json",
    r"\.codex/config",
    r"opencode\.jsonc?\b",
    r"\.gemini/settings",
    r"\.vscode/(?:settings|tasks)",
)
SHELL = any_of(
    r"\|\s?(?:sudo )?(?:ba|z|da|k)?sh\b",
    r"\|\s?(?:python3?|node|iex|perl|ruby)\b",
)

MARKS = (
    shape(
        REMOTE,
        ["curl ", "wget ", "iwr ", "irm "],
        r"\b(?:curl|wget|iwr|irm) ",
        SHELL,
        weight=LIKELY,
    ),
    # From a bare address that is no private one: nobody installs like that on purpose.
    shape(
        REMOTE,
        ["curl ", "wget "],
        r"\b(?:curl|wget) [^\n|]{0,60}https?://(?!10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)\d{1,3}(?:\.\d{1,3}){3}\b",
        SHELL,
    ),
    shape(
        REMOTE,
        ["curl|", "curl |"],
        r"curl ?\| ?(?:ba)?sh\b",
    ),
    shape(
        REMOTE,
        ["base64 -", "base64 --"],
        r"base64 (?:-d|--decode)\b",
        SHELL,
    ),
    shape(
        REMOTE,
        ["/dev/tcp/"],
        "/dev/tcp/",
    ),
    shape(
        REMOTE,
        ["bash -i", "nc -", "ncat -"],
        r"\bnc(?:at)? (?:-\w{0,4} )?-\w{0,3}e\b|\bbash -i\b\s?>&",
    ),
    shape(
        REMOTE,
        ["rm -"],
        r"rm -(?:rf|fr|r -f|f -r)\w?\s{1,3}(?:--no-preserve-root\s)?[\"']?(?:/|~|\$home|/\*)(?:[\"'\s;<,.)]|$)",
    ),
    # In code, where notes also warn of it.
    shape(
        REMOTE,
        ["rm -"],
        r"rm -(?:rf|fr|r -f|f -r)\w?\s{1,3}(?:--no-preserve-root\s)?(?:/|~|\$home|/\*)`",
        weight=LIKELY,
    ),
    shape(
        REMOTE,
        [":(){"],
        r":\(\)\s?\{\s?:\|:",
    ),
    shape(
        REMOTE,
        ["eval(", "exec("],
        r"(?:eval|exec)\(\s?(?:atob|base64|requests\.get|urllib|await fetch|fetch|__import__|compile)",
    ),
    shape(
        REMOTE,
        ["authorized_keys"],
        r">>?\s?\S{0,40}authorized_keys",
    ),
    shape(
        REMOTE,
        ["userpromptsubmit", "pretooluse", "posttooluse", "sessionstart", "postinstall", "preinstall"],
        any_of(
            "userpromptsubmit",
            "pretooluse",
            "posttooluse",
            "sessionstart",
            r"p(?:ost|re)install\b[\"']?:",
        ),
        rf"\b(?:curl|wget|nc|iwr)\b|{AGENT_CONFIG}",
        r"https?://|\bcp\b|\|",
    ),
    shape(
        REMOTE,
        ["write_file", "edit_file", "create_file", "append_file", "update_file"],
        r"(?:write|edit|create|append|update)_file\b",
        rf"{AGENT_CONFIG}|/etc/|/usr/bin|systemd|\.bashrc|\.zshrc|\.profile|crontab|authorized_keys",
    ),
    shape(
        REMOTE,
        ["alias "],
        "alias (?:claude|codex|opencode|sudo|git|ssh)=",
    ),
    shape(
        REMOTE,
        ["--dangerously", "dangerously_", "dangerouslyd", "--yolo", "sandbox"],
        any_of(
            r"--dangerously-(?:skip|bypass|disable)[-\w]{3,40}",
            r"dangerously_?disable\w{3,20}",
            r"--yolo\b",
            r"\"?sandbox\"?: ?[\"']?(?:disabled|false|off|none)",
        ),
    ),
    shape(
        REMOTE,
        ["release_agent", "nsenter ", "/proc/1/", "unshare ", "mknod ", "prog_load", "insmod ", "notify_on_release"],
        any_of(
            r"release_agent\b",
            "notify_on_release",
            r"nsenter\b[^\n]{0,60}\b1\b",
            r"/proc/1/(?:ns|root)\b",
            r"unshare\b[^\n]{0,40}/bin/",
            "bpf_prog_load",
            r"mknod \S{1,40} b \d",
            r"insmod \./",
        ),
    ),
    shape(
        REMOTE,
        [
            "terraform destroy",
            "kubectl delete",
            "drop database",
            "drop schema",
            "of=/dev/",
            "--skip-",
            "push --force",
            "push -f",
        ],
        any_of(
            r"terraform destroy\b[^\n]{0,40}-auto-approve",
            r"kubectl delete (?:\S{1,20} )?(?:--all\b|ns\b|namespaces?\b)",
            r"drop (?:database|schema) \w",
            r"\bof=/dev/[shnv]",
            "--skip-(?:validation|verification|checks|auth)",
            r"git push (?:--force|-f) [^\n]{0,30}\b(?:main|master)\b",
        ),
    ),
    shape(
        REMOTE,
        ["chmod "],
        r"chmod (?:-r )?0?777 /(?!tmp)|chmod u?\+s ",
    ),
    shape(
        REMOTE,
        ["chroot /host", "core_pattern", "-v /:/", "/proc/self/exe", "dirty pipe", "dirty cow", "cve-"],
        any_of(
            "chroot /host",
            "/proc/sys/kernel/core_pattern",
            "-v /:/",
            "/proc/self/exe",
            r"dirty (?:pipe|cow)\b",
            r"\b(?:poc|exploit|shellcode)\b[^\n]{0,30}cve-\d{4}-\d",
            r"cve-\d{4}-\d{3,7}[^\n]{0,30}\b(?:poc|exploit|shellcode)\b",
        ),
    ),
    shape(
        REMOTE,
        [
            'allow":',
            'allowlist":',
            'bind":',
            "autoapprove",
            "requireapproval",
            "skippermissions",
            "bypasspermissions",
            'browsercontrol":',
            'discovery":',
            'mdns":',
        ],
        any_of(
            r'"allow": ?\[[^\]\n]{0,80}"(?:exec|shell|bash|gateway|\*)"',
            r'"allow_?list": ?\["\*"',
            '"bind": ?"(?:lan|all|public)"',
            r'"?auto_?approve\w{0,10}"?: ?(?:true|"(?:all|\*))',
            'require_?approval"?: ?false',
            "bypasspermissions",
            "skippermissions",
            '"browsercontrol": ?true',
            '"(?:discovery|mdns)": ?"full"',
        ),
    ),
    shape(
        REMOTE,
        ['"allow"'],
        r'"(?:bash|edit|webfetch|external_directory|permissions?|\*)" ?: ?"allow"',
        weight=LIKELY,
    ),
)
