-- Sealed checkpoints, as read from their files. If a file is deleted, its row is deleted too.
-- `number` links a row to the full-text indexes below.
CREATE TABLE checkpoints (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    machine TEXT NOT NULL,
    checkpoint TEXT NOT NULL,
    path ANY NOT NULL UNIQUE,
    project ANY NOT NULL,
    session TEXT NOT NULL,
    created INTEGER NOT NULL,
    occasion TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    partial INTEGER NOT NULL,
    used INTEGER,
    "window" INTEGER,
    summary TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX checkpoints_by_project ON checkpoints (project);
CREATE INDEX checkpoints_by_session ON checkpoints (session, created, iteration);

-- Whole words in all their forms, and beginnings of words.
CREATE VIRTUAL TABLE checkpoint_words USING fts5 (
    summary, body, content = 'checkpoints', content_rowid = 'number',
    tokenize = 'porter unicode61', prefix = '2 3'
);

-- Parts of words.
CREATE VIRTUAL TABLE checkpoint_parts USING fts5 (
    summary, body, content = 'checkpoints', content_rowid = 'number', tokenize = 'trigram'
);

CREATE TRIGGER checkpoints_come AFTER INSERT ON checkpoints BEGIN
    INSERT INTO checkpoint_words (rowid, summary, body)
        VALUES (new.number, new.summary, new.body);
    INSERT INTO checkpoint_parts (rowid, summary, body)
        VALUES (new.number, new.summary, new.body);
END;

CREATE TRIGGER checkpoints_go AFTER DELETE ON checkpoints BEGIN
    INSERT INTO checkpoint_words (checkpoint_words, rowid, summary, body)
        VALUES ('delete', old.number, old.summary, old.body);
    INSERT INTO checkpoint_parts (checkpoint_parts, rowid, summary, body)
        VALUES ('delete', old.number, old.summary, old.body);
END;
