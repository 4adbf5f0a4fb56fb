"""What project knowledge costs: search over 100,000 items and how well it ranks, pages, imports. `make benchmarks`.

Texts and queries come from the documentation of the installed dependencies, so everybody has them.
On PostgreSQL: `python -m tests.postgresql python benchmarks/knowledge.py`. Figures of one run on one machine.
"""

from __future__ import annotations

import importlib
import inspect
import math
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
FOLDER = Path(tempfile.mkdtemp(prefix="openchamber-benchmark-"))
os.environ["OPENCHAMBER_DATA_DIR"] = str(FOLDER / "data")
if database := os.environ.get("OPENCHAMBER_TEST_DATABASE_URL"):
    os.environ["DATABASE_URL"] = database
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openchamber.settings")

import django  # noqa: E402

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from benchmarks._timing import milliseconds, timed  # noqa: E402
from knowledge.files import import_plan  # noqa: E402
from knowledge.models import Author, Note, SearchText, SearchWord, Through  # noqa: E402
from knowledge.models.search import rows_for, words_of  # noqa: E402
from openchamber.models import Project  # noqa: E402
from openchamber.search import ask, with_passages  # noqa: E402

ITEMS = int(os.environ.get("ITEMS", "100000"))
PACKAGES = (  # noqa: SIM905  a list of words reads better than sixty quoted ones
    "asyncio collections concurrent.futures csv datetime decimal email http json logging multiprocessing pathlib"
    " sqlite3 ssl statistics threading typing unittest urllib.request xml.etree.ElementTree django.db.models"
    " django.db.models.query django.forms django.http django.views.generic django.utils.timezone django.core.cache"
    " django.core.files.storage django.contrib.auth.models ninja pydantic httpx2 hypothesis hypothesis.strategies"
    " playwright.sync_api pygments markdown_it bleach platformdirs uvicorn"
).split()
COMMON = {"that", "this", "with", "from", "which", "will", "when", "have", "been", "into", "than", "then", "they"}


def documents() -> dict[str, str]:
    """{name: docstring} of everything public in the packages that has a paragraph to say."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name, thing in [*members(module)]:
            text = inspect.getdoc(thing) or ""
            if len(text) > 200:
                found.setdefault(f"{package}.{name}", text)
    return found


def members(module: Any) -> Iterator[tuple[str, Any]]:
    """Public functions and classes of a module, and the methods of those classes."""
    for name, thing in inspect.getmembers(module):
        if name.startswith("_") or not (inspect.isclass(thing) or inspect.isroutine(thing)):
            continue
        yield name, thing
        if inspect.isclass(thing):
            for method, function in inspect.getmembers(thing, inspect.isroutine):
                if not method.startswith("_"):
                    yield f"{name}.{method}", function


def put(project: Project, texts: list[str]) -> None:
    """Store many notes at once, with what they are found by; as if each had been written."""
    notes = [Note(project=project, body=text) for text in texts]
    for note in notes:
        note.derive()
    notes = Note.objects.bulk_create(notes, batch_size=500)
    rows = [row for note in notes for row in rows_for(note)]
    SearchText.objects.bulk_create(rows, batch_size=200)
    SearchWord.add(words_of(rows))


def quality(documents: dict[str, str], project: Project) -> None:
    """How high the document stands that a query was made from: words of it, in any order, with others' forms."""
    put(project, [f"# {name}\n\n{text}" for name, text in documents.items()])
    chooser = random.Random(7)
    titles = {f"{name}" for name in documents}
    places: list[int] = []
    for name, text in chooser.sample(sorted(documents.items()), min(300, len(documents))):
        words = [word for word in text.split() if word.isalpha() and len(word) > 3 and word.lower() not in COMMON]
        if len(words) < 6:
            continue
        query = " ".join(chooser.sample(words, 4)) + " "
        hits = [hit.title for hit in ask(Project.objects.filter(pk=project.pk), query, limit=10).hits[:10]]
        places.append(hits.index(name) + 1 if name in hits else 0)
    gain = statistics.mean(1 / math.log2(place + 1) if place else 0 for place in places)
    first = sum(place == 1 for place in places) / len(places)
    print(f"ranking: {len(titles)} documents, {len(places)} queries of 4 words: nDCG@10 {gain:.3f}, first {first:.0%}")


def search_speed(documents: dict[str, str], project: Project) -> None:
    """Search among many items: words as people type them, common and rare, whole and begun."""
    chooser = random.Random(3)
    sentences = [line.strip() for text in documents.values() for line in text.split(". ") if 30 < len(line) < 300]
    started = time.perf_counter()
    for _batch in range(0, ITEMS, 2000):
        put(project, [" ".join(chooser.sample(sentences, chooser.choice([1, 2, 4]))) for _ in range(2000)])
    print(f"{ITEMS} items stored in {time.perf_counter() - started:.0f} s; {SearchText.objects.count()} passages")
    analyse()
    vocabulary = sorted({word for text in sentences for word in text.split() if word.isalpha() and len(word) > 3})
    kinds = {
        "one word": lambda: chooser.choice(vocabulary),
        "three words": lambda: " ".join(chooser.sample(vocabulary, 3)),
        "a sentence": lambda: " ".join(chooser.choice(sentences).split()[:8]),
        "a begun word": lambda: chooser.choice(vocabulary)[:4],
        "a phrase": lambda: '"' + " ".join(chooser.choice(sentences).split()[:3]) + '"',
        "a mistyped word": lambda: chooser.choice(vocabulary)[:-1] + "zq",
    }
    everything: list[float] = []
    for name, query in kinds.items():
        took = [timed(lambda query=query: search(project, query())) for _ in range(100)]
        everything += took
        print(f"search, {name}: {milliseconds(took)}")
    print(f"search, all of these: {milliseconds(everything)}")


def search(project: Project, query: str) -> None:
    """One search as the page does it: hits, and the passages of the first twenty."""
    with_passages(ask(Project.objects.filter(pk=project.pk), query).hits[:20])


def analyse() -> None:
    """Let the database look at what it holds, as it does by itself after a while."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        if connection.vendor == "sqlite":
            cursor.execute("INSERT INTO knowledge_search(knowledge_search) VALUES('optimize')")


def pages(owner: User) -> None:
    """The notes page with ten and with a thousand notes."""
    client = Client(headers={"Host": "localhost"})
    client.force_login(owner)
    for count in (10, 1000):
        project = Project.objects.create(name=f"With {count}", slug=f"with-{count}", directory=f"/with-{count}")
        put(project, [f"Note number {number} says **something** of `{number}`." for number in range(count)])
        address = f"/projects/{project.slug}/notes/"
        size = len(client.get(address).content)
        took = [timed(lambda address=address: client.get(address)) for _ in range(60)]
        print(f"notes page with {count} notes: {milliseconds(took)}, {size:,} bytes")


def imports(owner: User) -> None:
    """A thousand files, one after the other."""
    project = Project.objects.create(name="Imported", slug="imported", directory="/imported")
    by = Author(owner, Through.FILE)
    files = [(f"{number}.md", f"# File {number}\n\n{'A line of text. ' * 40}".encode()) for number in range(1000)]
    took = timed(lambda: [import_plan(project, name, data, by=by) for name, data in files])
    print(f"import of 1,000 files: {took:.1f} s, {took:.1f} ms each")


def main() -> None:
    """Measure, and print a line for each figure."""
    call_command("migrate", verbosity=0)
    owner = User.objects.create_superuser(f"owner-{timezone.now().timestamp()}")
    found = documents()
    print(f"database: {connection.vendor}")
    project = Project.objects.create(name="Documents", slug="documents", directory="/documents")
    quality(found, project)
    search_speed(found, Project.objects.create(name="Large", slug="large", directory="/large"))
    pages(owner)
    imports(owner)


if __name__ == "__main__":
    main()
