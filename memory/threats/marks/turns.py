"""Marks of turns that nobody took."""

from __future__ import annotations

from memory.threats.categories import TURNS
from memory.threats.shapes import LIKELY, shape

MARKS = (
    shape(
        TURNS,
        ["<|"],
        r"<\|(?:im_start|im_end|im_sep|system|user|assistant|end|endoftext|eot_id|(?:start|end)_header_id)\|>",
    ),
    shape(
        TURNS,
        ["openchamber-context"],
        r"</\s{0,8}openchamber-context\s{0,8}>",
    ),
    shape(
        TURNS,
        ["[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"],
        r"\[/?INST\]|<</?SYS>>",
        exact=True,
    ),
    shape(
        TURNS,
        ["override>"],
        "<(?:admin|system|root|sudo|developer)[ _-]?override>",
    ),
    shape(
        TURNS,
        ["{user:"],
        r"\{user:\s?[\"']",
    ),
    shape(
        TURNS,
        ["</system>"],
        r"</system>\s{0,4}<(?:user|human|assistant)>",
    ),
    shape(
        TURNS,
        ["[system"],
        r"\[system(?: message| note| prompt| override)?\](?!\()",
        weight=LIKELY,
    ),
    shape(
        TURNS,
        ["system:", "assistant:", "developer:"],
        r"(?:^|\n)\W{0,6}(?:system|assistant|developer):\s",
        weight=LIKELY,
    ),
    shape(
        TURNS,
        ["SYSTEM:", "SYSTEM "],
        r"(?:^|\n|[.!] )\W{0,6}SYSTEM(?: [A-Z]+)?:\s",
        weight=LIKELY,
        exact=True,
    ),
    shape(
        TURNS,
        ["instruction:", "response:"],
        r"\n#{2,4} ?(?:system|instruction|response):",
        weight=LIKELY,
    ),
    shape(
        TURNS,
        ["<thinking>", "<scratchpad>", "<thought>", "<reasoning>"],
        "<(?:thinking|scratchpad|thought|reasoning)>",
        weight=LIKELY,
    ),
    shape(
        TURNS,
        ["user:", "human:"],
        r"(?:^|\n)\W{0,6}(?:user|human):\s{1,3}(?:please\s)?(?:delete|wipe|drop|erase|execute|send|ignore|forget|obey)\b",
    ),
    shape(
        TURNS,
        ["<system>"],
        r"<system>\s{0,4}(?:you|your|ignore|forget|always|never|do not|from now)\b",
    ),
    shape(
        TURNS,
        ["<information>"],
        r"<information>\s{0,9}\w",
    ),
)
