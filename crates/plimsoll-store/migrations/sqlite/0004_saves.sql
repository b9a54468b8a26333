-- Saves, as read from the journal of saves. `number` links a row to the full-text indexes below.
-- `filed` is the environment as one word. A search in `save_words` includes it, so that only the
-- saves of that environment are read. `tags` and `key_artifacts` have one item per line. A commit
-- is stored once, with the longest hash known.
CREATE TABLE saves (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    machine TEXT NOT NULL,
    created INTEGER NOT NULL,
    environment TEXT NOT NULL,
    kind TEXT NOT NULL,
    project TEXT,
    session TEXT,
    "checkpoint" TEXT,
    "commit" TEXT,
    task TEXT NOT NULL,
    context TEXT,
    blockers TEXT,
    next_steps TEXT,
    tags TEXT NOT NULL,
    key_artifacts TEXT NOT NULL,
    filed TEXT NOT NULL
) STRICT;

CREATE INDEX saves_by_time ON saves (created, number);
CREATE INDEX saves_by_environment ON saves (environment, created, number);
CREATE INDEX saves_by_session ON saves (session, created) WHERE session IS NOT NULL;
CREATE INDEX saves_by_commit ON saves (substr("commit", 1, 7)) WHERE "commit" IS NOT NULL;
CREATE INDEX saves_by_checkpoint ON saves ("checkpoint") WHERE "checkpoint" IS NOT NULL;

-- Most queries leave out automatic saves, of which there may be many.
CREATE INDEX asked_saves_by_time ON saves (created, number) WHERE kind <> 'auto';
CREATE INDEX asked_saves_by_environment ON saves (environment, created, number) WHERE kind <> 'auto';

-- Whole words in all their forms, and beginnings of words.
CREATE VIRTUAL TABLE save_words USING fts5 (
    task, context, blockers, next_steps, tags, key_artifacts, filed,
    content = 'saves', content_rowid = 'number', tokenize = 'porter unicode61', prefix = '2 3'
);

-- Parts of words.
CREATE VIRTUAL TABLE save_parts USING fts5 (
    task, context, blockers, next_steps, tags, key_artifacts,
    content = 'saves', content_rowid = 'number', tokenize = 'trigram'
);

CREATE TRIGGER saves_come AFTER INSERT ON saves BEGIN
    INSERT INTO save_words (rowid, task, context, blockers, next_steps, tags, key_artifacts, filed)
        VALUES (new.number, new.task, new.context, new.blockers, new.next_steps, new.tags,
            new.key_artifacts, new.filed);
    INSERT INTO save_parts (rowid, task, context, blockers, next_steps, tags, key_artifacts)
        VALUES (new.number, new.task, new.context, new.blockers, new.next_steps, new.tags,
            new.key_artifacts);
END;

-- Every alphabetic word in a save, for spelling correction.
CREATE TABLE save_spellings (
    length INTEGER NOT NULL,
    word TEXT NOT NULL,
    PRIMARY KEY (length, word)
) STRICT, WITHOUT ROWID;
