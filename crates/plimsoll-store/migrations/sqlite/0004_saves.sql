-- Saves, as the journal of saves tells; that file is the truth. `number` is what the indexes below know
-- a row by. `filed` is the environment as one word, which `save_words` is asked for together with what is
-- searched: where an environment has few saves, only those are looked at. `tags` and `key_artifacts` have one in each line. A commit is there once, by its longest name.
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

-- What is asked for mostly leaves out what hooks saved by themselves, of which there may be many.
CREATE INDEX asked_saves_by_time ON saves (created, number) WHERE kind <> 'auto';
CREATE INDEX asked_saves_by_environment ON saves (environment, created, number) WHERE kind <> 'auto';

-- Whole words in any of their forms, and beginnings of words.
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

-- Every word of letters that stands in a save, for those who mistype it.
CREATE TABLE save_spellings (
    length INTEGER NOT NULL,
    word TEXT NOT NULL,
    PRIMARY KEY (length, word)
) STRICT, WITHOUT ROWID;
