-- Runs, each as its journal tells it: `lines` is the journal as one JSON array, the rest is what is
-- asked for. All rows of a run are replaced when its journal has grown.
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

-- The pieces of plans that are done: what the formula said, and what they took. They outlast their run.
CREATE TABLE run_pieces (
    run TEXT NOT NULL,
    place INTEGER NOT NULL,
    done INTEGER NOT NULL,
    kind TEXT NOT NULL,
    predicted INTEGER NOT NULL,
    measured INTEGER NOT NULL,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

-- What the formula gives for what past sessions were first asked for, and by how much their own windows
-- have grown.
CREATE TABLE past_tasks (
    session TEXT PRIMARY KEY,
    last_word INTEGER NOT NULL,
    kind TEXT NOT NULL,
    predicted INTEGER NOT NULL,
    grown INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
