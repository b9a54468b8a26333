-- Runs of anybody's hooks. Several records of a transcript may tell of one run; `call`, event and
-- `command_id` name it. That is made from the whole command; `command` is what may be kept of it.
-- `millis` is empty where nobody wrote it down.
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

-- A fork repeats its parent's records: here each run appears once.
CREATE VIEW distinct_hook_runs AS
SELECT * FROM (
    SELECT *, row_number() OVER (
        PARTITION BY "call", event, command_id ORDER BY session, subagent
    ) AS copy
    FROM hook_runs
) WHERE copy = 1;

-- How the agent's client is set in a project, in its reader's words: since when, as far as anyone
-- has noticed, and when that was last looked at.
CREATE TABLE client_settings (
    agent TEXT NOT NULL,
    project ANY NOT NULL,
    settings TEXT NOT NULL,
    since INTEGER NOT NULL,
    looked INTEGER NOT NULL,
    PRIMARY KEY (agent, project)
) STRICT, WITHOUT ROWID;

-- A forecast asks for the newest readings of one window, and for nothing else of them.
CREATE INDEX readings_by_time ON readings (session, subagent, time, prompt_tokens, turn);

-- What was read before knew nothing of hook runs: every file is read again, and the keys see to it
-- that nothing counts twice.
DELETE FROM sources;
