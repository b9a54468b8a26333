-- Times and occasions of all sealed checkpoints. A pruned checkpoint is deleted from `checkpoints`
-- but stays counted here.
CREATE TABLE seals (
    path ANY PRIMARY KEY,
    session TEXT NOT NULL,
    created INTEGER NOT NULL,
    occasion TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX seals_by_session ON seals (session, created);
CREATE INDEX seals_by_time ON seals (created, occasion);

INSERT INTO seals SELECT path, session, created, occasion FROM checkpoints;

CREATE TRIGGER checkpoints_count AFTER INSERT ON checkpoints BEGIN
    INSERT INTO seals VALUES (new.path, new.session, new.created, new.occasion)
        ON CONFLICT DO NOTHING;
END;

-- Finds decisions by time, across all sessions.
CREATE INDEX decisions_by_time ON decisions (time, what);
