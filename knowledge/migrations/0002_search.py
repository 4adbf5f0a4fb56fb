"""The databases' own indexes over the search texts, kept by triggers, so that no writer can miss them."""

from django.db import migrations

SQLITE = [
    """CREATE VIRTUAL TABLE knowledge_search USING fts5(
        scope, title, body, more,
        content='knowledge_searchtext', content_rowid='id', tokenize='ascii', prefix='2 3 4 5 6', columnsize=0)""",
    """CREATE TRIGGER knowledge_search_insert AFTER INSERT ON knowledge_searchtext BEGIN
        INSERT INTO knowledge_search(rowid, scope, title, body, more)
        VALUES (new.id, new.scope, new.title, new.body, new.more); END""",
    """CREATE TRIGGER knowledge_search_delete AFTER DELETE ON knowledge_searchtext BEGIN
        INSERT INTO knowledge_search(knowledge_search, rowid, scope, title, body, more)
        VALUES ('delete', old.id, old.scope, old.title, old.body, old.more); END""",
    """CREATE TRIGGER knowledge_search_update AFTER UPDATE OF scope, title, body, more ON knowledge_searchtext BEGIN
        INSERT INTO knowledge_search(knowledge_search, rowid, scope, title, body, more)
        VALUES ('delete', old.id, old.scope, old.title, old.body, old.more);
        INSERT INTO knowledge_search(rowid, scope, title, body, more)
        VALUES (new.id, new.scope, new.title, new.body, new.more); END""",
    """CREATE VIRTUAL TABLE knowledge_searchword_near USING fts5(
        word, content='knowledge_searchword', content_rowid='id', tokenize='trigram')""",
    """CREATE TRIGGER knowledge_searchword_insert AFTER INSERT ON knowledge_searchword BEGIN
        INSERT INTO knowledge_searchword_near(rowid, word) VALUES (new.id, new.word); END""",
    """CREATE TRIGGER knowledge_searchword_delete AFTER DELETE ON knowledge_searchword BEGIN
        INSERT INTO knowledge_searchword_near(knowledge_searchword_near, rowid, word)
        VALUES ('delete', old.id, old.word); END""",
    # Whatever is there already, when the migration is taken back and made again.
    "INSERT INTO knowledge_search(knowledge_search) VALUES ('rebuild')",
    "INSERT INTO knowledge_searchword_near(knowledge_searchword_near) VALUES ('rebuild')",
]
SQLITE_BACK = [
    "DROP TRIGGER knowledge_searchword_delete",
    "DROP TRIGGER knowledge_searchword_insert",
    "DROP TABLE knowledge_searchword_near",
    "DROP TRIGGER knowledge_search_update",
    "DROP TRIGGER knowledge_search_delete",
    "DROP TRIGGER knowledge_search_insert",
    "DROP TABLE knowledge_search",
]
# Terms come ready made: PostgreSQL's own parser, which knows no emoji and reads 3e5 as a number, is not asked.
POSTGRESQL = [
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    """ALTER TABLE knowledge_searchtext ADD COLUMN terms tsvector GENERATED ALWAYS AS (array_to_tsvector(
        array_remove(string_to_array(title || ' ' || body || ' ' || more, ' '), ''))) STORED""",
    """ALTER TABLE knowledge_searchtext ADD COLUMN title_terms tsvector GENERATED ALWAYS AS (array_to_tsvector(
        array_remove(string_to_array(title, ' '), ''))) STORED""",
    "CREATE INDEX knowledge_search ON knowledge_searchtext USING gin (terms)",
    "CREATE INDEX knowledge_search_titles ON knowledge_searchtext USING gin (title_terms)",
    "CREATE INDEX knowledge_searchword_near ON knowledge_searchword USING gin (word gin_trgm_ops)",
]
POSTGRESQL_BACK = [
    "DROP INDEX knowledge_searchword_near",
    "DROP INDEX knowledge_search_titles",
    "DROP INDEX knowledge_search",
    "ALTER TABLE knowledge_searchtext DROP COLUMN title_terms",
    "ALTER TABLE knowledge_searchtext DROP COLUMN terms",
]


def run(schema_editor, sqlite, postgresql):
    for statement in sqlite if schema_editor.connection.vendor == "sqlite" else postgresql:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0001_initial")]

    operations = [
        migrations.RunPython(
            lambda apps, schema_editor: run(schema_editor, SQLITE, POSTGRESQL),
            lambda apps, schema_editor: run(schema_editor, SQLITE_BACK, POSTGRESQL_BACK),
        ),
    ]
