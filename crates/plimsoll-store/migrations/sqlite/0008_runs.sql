-- Runs, as read from their journals. `lines` is the journal as one JSON array; the other columns
-- serve queries. All rows of a run are replaced when its journal has grown.
CREATE TABLE runs (
    run TEXT PRIMARY KEY,
    machine TEXT NOT NULL,
    project ANY NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    has_ended INTEGER NOT NULL,
    lines TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_by_time ON runs (since);

-- The sessions of a run.
CREATE TABLE run_legs (
    run TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    job INTEGER NOT NULL,
    leg INTEGER NOT NULL,
    session TEXT,
    PRIMARY KEY (run, job, leg)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_legs_by_session ON run_legs (session) WHERE session IS NOT NULL;

-- Finished pieces of plans, with predicted and measured size. They stay when their run is deleted.
CREATE TABLE run_pieces (
    run TEXT NOT NULL,
    place INTEGER NOT NULL,
    done INTEGER NOT NULL,
    kind TEXT NOT NULL,
    predicted INTEGER NOT NULL,
    measured INTEGER NOT NULL,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

-- The predicted size of each past session's first request, and the actual growth of its own window.
CREATE TABLE past_tasks (
    session TEXT PRIMARY KEY,
    last_word INTEGER NOT NULL,
    kind TEXT NOT NULL,
    predicted INTEGER NOT NULL,
    grown INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
