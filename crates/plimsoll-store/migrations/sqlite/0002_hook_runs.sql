-- Runs of anybody's hooks. Several records of a transcript may tell of one run; `call`, event and
-- command name it. `millis` is empty where nobody wrote it down.
CREATE TABLE hook_runs (
    id BLOB PRIMARY KEY,
    machine TEXT NOT NULL,
    session TEXT NOT NULL REFERENCES sessions (session),
    subagent TEXT NOT NULL,
    "call" TEXT NOT NULL,
    event TEXT NOT NULL,
    command TEXT NOT NULL,
    time INTEGER NOT NULL,
    millis INTEGER,
    outcome TEXT NOT NULL,
    UNIQUE (session, subagent, "call", event, command)
) STRICT, WITHOUT ROWID;

-- A fork repeats its parent's records: here each run appears once.
CREATE VIEW distinct_hook_runs AS
SELECT * FROM (
    SELECT *, row_number() OVER (
        PARTITION BY "call", event, command ORDER BY session, subagent
    ) AS copy
    FROM hook_runs
) WHERE copy = 1;

-- A forecast asks for the newest readings of one window, and for nothing else of them.
CREATE INDEX readings_by_time ON readings (session, subagent, time, prompt_tokens, turn);

-- What was read before knew nothing of hook runs: every file is read again, and the keys see to it
-- that nothing counts twice.
DELETE FROM sources;
