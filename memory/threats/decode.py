"""Decoding: texts that a text carries in a simple encoding or out of sight. Pure, and linear in the text's length."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from html.entities import html5

# How much of a text is decoded in one way, in characters. An order that needs more than this is none.
MOST = 400_000

# Each begins with one character of a set, which is what the engine finds fastest.
BASE64 = re.compile(r"[A-Za-z0-9+/_-][A-Za-z0-9+/_-]{15,}")
BASE32 = re.compile(r"[A-Z2-7][A-Z2-7]{23,}")
# Whatever has no space in it.
BASE85 = re.compile(r"(?<!\S)[!-~]{40,4000}(?!\S)")
HEX = re.compile(r"[0-9A-Fa-f][0-9A-Fa-f]{19,}")
HEX_PAIRS = re.compile(r"[0-9A-Fa-f][0-9A-Fa-f][ :,](?:[0-9A-Fa-f]{2}[ :,]){8,}[0-9A-Fa-f]{2}")
HEX_ESCAPES = re.compile(r"\\x[0-9A-Fa-f]{2}(?:\\x[0-9A-Fa-f]{2}){5,}")
BINARY = re.compile(r"[01][01]{7}[ ,]?(?:[01]{8}[ ,]?){5,}")
NUMBERS = re.compile(r"\d\d\d?[ ,;]{1,2}(?:\d{2,3}[ ,;]{1,2}){10,}\d{2,3}")
PERCENT = re.compile(r"%([0-9A-Fa-f]{2})")
ENTITY = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z]{2,8}));?")
CODE_POINT = re.compile(r"\\u([0-9A-Fa-f]{4})|\\u\{([0-9A-Fa-f]{1,6})\}|\\x([0-9A-Fa-f]{2})|U\+([0-9A-Fa-f]{4,6})\s?")
TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
TWO_SIGNS = re.compile("[\u200b\u200c\u200d\u2060\u2063\ufeff]{32,}")
OVERRIDES = re.compile("\u202e([^\u202c\n]{4,2000})")


def decoded(text: str) -> Iterator[tuple[str, str]]:
    """What `text` carries: (the name of the way, the text found), as far as it reads like text."""
    longest = max(map(len, text.split()), default=0)
    for name, shortest, find in WAYS:
        if longest >= shortest:
            for found in find(text):
                if found and found != text:
                    yield name, found
    if not text.isascii():
        for name, find in INVISIBLE_WAYS:
            yield from ((name, found) for found in find(text) if found)


def readable(data: bytes) -> str:
    """Bytes as text where they are one, else ""."""
    try:
        text = data.decode("utf-16-le" if b"\0" in data[1::2][:4] else "utf-8")
    except UnicodeDecodeError:
        return ""
    words = "".join(text.split())
    return text if len(words) >= 6 and words.isprintable() else ""


def _each(pattern: re.Pattern[str], decode: Callable[[str], bytes]) -> Callable[[str], Iterator[str]]:
    """Decode every match of `pattern`, all texts that come of it as one; a match that cannot be decoded is none."""

    def find(text: str) -> Iterator[str]:
        budget = MOST
        texts = []
        for match in pattern.finditer(text):
            run = match[0][:budget]
            budget -= len(run)
            try:
                texts.append(readable(decode(run)))
            except ValueError:
                continue
            if budget <= 0:
                break
        yield "\n".join(filter(None, texts))

    return find


def _from_base64(run: str) -> bytes:
    if run.islower() or run.isupper():
        raise ValueError  # a path, a name, a number: text in base64 has both cases
    run = run.replace("-", "+").replace("_", "/")
    return base64.b64decode(run[:-1] if len(run) % 4 == 1 else run + "=" * (-len(run) % 4))


def _from_base32(run: str) -> bytes:
    return base64.b32decode(run + "=" * (-len(run) % 8))


def _from_base85(run: str) -> bytes:
    if run.isalnum():
        raise ValueError  # base64, or one long word
    return base64.b85decode(run)


def _from_hex(run: str) -> bytes:
    digits = re.sub(r"[^0-9A-Fa-f]", "", run.replace("\\x", ""))
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


def _from_binary(run: str) -> bytes:
    return bytes(int(byte, 2) for byte in re.findall("[01]{8}", run))


def _from_numbers(run: str) -> bytes:
    return bytes(int(number) for number in re.findall(r"\d+", run))


def _unquoted(text: str) -> Iterator[str]:
    """Percent-encoded bytes in their place."""
    if text.count("%") >= 3:
        found = PERCENT.sub(lambda code: chr(int(code[1], 16)), text[:MOST])
        yield found.replace("+", " ")


def _unescaped(text: str) -> Iterator[str]:
    """HTML entities in their place."""
    if "&" in text:
        yield ENTITY.sub(_entity, text[:MOST])


def _entity(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if name:
        return html5.get(f"{name};", match[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if code < 0x110000 else match[0]


def _code_points(text: str) -> Iterator[str]:
    """Escaped code points in their place."""
    if "\\u" in text or "\\x" in text or "U+" in text:
        yield CODE_POINT.sub(_code_point, text[:MOST])


def _code_point(match: re.Match[str]) -> str:
    code = int(next(digits for digits in match.groups() if digits), 16)
    return chr(code) if code < 0x110000 else match[0]


def _tags(text: str) -> Iterator[str]:
    # A flag's tags (a region's name) stand after a black flag, are few and are no order.
    runs = (
        run[0] for run in TAGS.finditer(text) if text[run.start() - 1 : run.start()] != "\U0001f3f4" or len(run[0]) > 6
    )
    yield "\n".join("".join(chr(ord(tag) - 0xE0000) for tag in run) for run in runs)[:MOST]


def _selectors(text: str) -> Iterator[str]:
    """Bytes that variation selectors stand for: 1 to 16, then 17 to 256."""
    for run in SELECTORS.findall(text[:MOST]):
        yield readable(bytes(ord(sign) - (0xFE00 if ord(sign) < 0xFE10 else 0xE0100 - 16) for sign in run))


def _two_signs(text: str) -> Iterator[str]:
    """Bits that two invisible characters stand for, whichever of them is the one."""
    for run in TWO_SIGNS.findall(text[:MOST]):
        signs = sorted(set(run))
        for one in signs if len(signs) == 2 else ():
            bits = "".join("1" if sign == one else "0" for sign in run)
            yield readable(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8)))


def _overrides(text: str) -> Iterator[str]:
    """What stands where the direction of writing is turned round, the other way about."""
    yield "\n".join(run[::-1] for run in OVERRIDES.findall(text))


# Each with the length of the shortest word that a text must have for it.
WAYS: tuple[tuple[str, int, Callable[[str], Iterator[str]]], ...] = (
    ("base64", 16, _each(BASE64, _from_base64)),
    ("base32", 24, _each(BASE32, _from_base32)),
    ("base85", 40, _each(BASE85, _from_base85)),
    ("hex", 20, _each(HEX, _from_hex)),
    ("hex", 2, _each(HEX_PAIRS, _from_hex)),
    ("hex", 24, _each(HEX_ESCAPES, _from_hex)),
    ("binary", 8, _each(BINARY, _from_binary)),
    ("numbers", 2, _each(NUMBERS, _from_numbers)),
    ("percent", 3, _unquoted),
    ("entities", 3, _unescaped),
    ("escapes", 4, _code_points),
)
INVISIBLE_WAYS = (
    ("tags", _tags),
    ("selectors", _selectors),
    ("zero-width", _two_signs),
    ("reversed", _overrides),
)
