-- Runs of hooks, of plimsoll and of other tools. Several records of a transcript may describe one
-- run, identified by `call`, `event` and `command_id`. `command_id` is derived from the whole
-- command; `command` is the command without secrets. `millis` is NULL if no record has the
-- duration.
CREATE TABLE hook_runs (
    id BLOB PRIMARY KEY,
    machine TEXT NOT NULL,
    session TEXT NOT NULL REFERENCES sessions (session),
    subagent TEXT NOT NULL,
    "call" TEXT NOT NULL,
    event TEXT NOT NULL,
    command_id INTEGER NOT NULL,
    command TEXT NOT NULL,
    time INTEGER NOT NULL,
    millis INTEGER,
    outcome TEXT NOT NULL,
    UNIQUE (session, subagent, "call", event, command_id)
) STRICT, WITHOUT ROWID;

-- A fork repeats its parent's records. This view has each run once.
CREATE VIEW distinct_hook_runs AS
SELECT * FROM (
    SELECT *, row_number() OVER (
        PARTITION BY "call", event, command_id ORDER BY session, subagent
    ) AS copy
    FROM hook_runs
) WHERE copy = 1;

-- Settings of an agent's client in a project, in a format of the caller's own: since when they
-- apply, as far as known, and when they were last checked.
CREATE TABLE client_settings (
    agent TEXT NOT NULL,
    project ANY NOT NULL,
    settings TEXT NOT NULL,
    since INTEGER NOT NULL,
    looked INTEGER NOT NULL,
    PRIMARY KEY (agent, project)
) STRICT, WITHOUT ROWID;

-- Covers the query for a forecast, which reads the newest readings of one window.
CREATE INDEX readings_by_time ON readings (session, subagent, time, prompt_tokens, turn);

-- Files read so far were read without hook runs. All files are read again; the keys prevent
-- duplicates.
DELETE FROM sources;
