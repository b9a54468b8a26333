-- Times are milliseconds since the Unix epoch. Paths are text, or a blob if they are not UTF-8.
-- `id` is a UUIDv7. An empty `subagent` is the session itself.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- How far each file has been read, and the reader's state at that position (`note`).
CREATE TABLE sources (
    path ANY PRIMARY KEY,
    inode INTEGER NOT NULL,
    read_to INTEGER NOT NULL,
    note TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id BLOB PRIMARY KEY,
    machine TEXT NOT NULL,
    session TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    project ANY,
    transcript ANY,
    version TEXT,
    model TEXT,
    started INTEGER NOT NULL,
    last_seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_last_seen ON sessions (last_seen);

CREATE TABLE readings (
    id BLOB PRIMARY KEY,
    machine TEXT NOT NULL,
    session TEXT NOT NULL REFERENCES sessions (session),
    subagent TEXT NOT NULL,
    message TEXT NOT NULL,
    time INTEGER NOT NULL,
    model TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    UNIQUE (session, subagent, message)
) STRICT, WITHOUT ROWID;

CREATE TABLE compactions (
    id BLOB PRIMARY KEY,
    machine TEXT NOT NULL,
    session TEXT NOT NULL REFERENCES sessions (session),
    subagent TEXT NOT NULL,
    entry TEXT NOT NULL,
    time INTEGER NOT NULL,
    model TEXT,
    version TEXT,
    automatic INTEGER NOT NULL,
    tokens_before INTEGER,
    tokens_after INTEGER,
    UNIQUE (session, subagent, entry)
) STRICT, WITHOUT ROWID;

-- The key includes the time, because a new file may get the inode of a deleted one.
CREATE TABLE decisions (
    id BLOB PRIMARY KEY,
    machine TEXT NOT NULL,
    source ANY NOT NULL,
    inode INTEGER NOT NULL,
    line INTEGER NOT NULL,
    time INTEGER NOT NULL,
    session TEXT NOT NULL REFERENCES sessions (session),
    subagent TEXT NOT NULL,
    what TEXT NOT NULL,
    used INTEGER NOT NULL,
    "window" INTEGER NOT NULL,
    UNIQUE (source, inode, line, time)
) STRICT, WITHOUT ROWID;

CREATE INDEX decisions_by_session ON decisions (session);

-- A fork repeats its parent's compactions. This view has each once, with its model if one copy has
-- it.
CREATE VIEW distinct_compactions AS
SELECT * FROM (
    SELECT *, row_number() OVER (
        PARTITION BY entry ORDER BY model IS NULL, session, subagent
    ) AS copy
    FROM compactions
) WHERE copy = 1;
