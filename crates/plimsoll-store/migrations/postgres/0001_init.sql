-- Tables with the rows of all machines of a team. Times are milliseconds since the Unix epoch. An
-- empty `subagent` is the session itself. Rows have the same keys as on their machine, so that each
-- is stored once, however often it is sent.

CREATE TABLE plimsoll.meta (
    name text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE plimsoll.machines (
    machine text PRIMARY KEY,
    host text NOT NULL,
    person text NOT NULL,
    version text NOT NULL,
    last_seen bigint NOT NULL
);

CREATE TABLE plimsoll.sessions (
    session text PRIMARY KEY,
    machine text NOT NULL,
    agent text NOT NULL,
    project text,
    version text,
    model text,
    started bigint NOT NULL,
    last_seen bigint NOT NULL
);

CREATE INDEX sessions_by_last_seen ON plimsoll.sessions (last_seen DESC, session);
CREATE INDEX sessions_by_machine ON plimsoll.sessions (machine, last_seen DESC, session);

CREATE TABLE plimsoll.readings (
    session text NOT NULL,
    subagent text NOT NULL,
    message text NOT NULL,
    time bigint NOT NULL,
    model text NOT NULL,
    prompt_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    turn bigint NOT NULL,
    PRIMARY KEY (session, subagent, message)
);

-- Covers the readings of a window and its last reading, without access to the table.
CREATE INDEX readings_by_time ON plimsoll.readings (session, subagent, time, prompt_tokens, output_tokens);

CREATE TABLE plimsoll.compactions (
    session text NOT NULL,
    subagent text NOT NULL,
    entry text NOT NULL,
    time bigint NOT NULL,
    model text,
    version text,
    automatic boolean NOT NULL,
    tokens_before bigint,
    tokens_after bigint,
    PRIMARY KEY (session, subagent, entry)
);

CREATE TABLE plimsoll.checkpoints (
    session text NOT NULL,
    checkpoint text NOT NULL,
    machine text NOT NULL,
    path text NOT NULL,
    project text NOT NULL,
    created bigint NOT NULL,
    occasion text NOT NULL,
    iteration bigint NOT NULL,
    partial boolean NOT NULL,
    used_tokens bigint,
    window_tokens bigint,
    summary text NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (session, checkpoint)
);

CREATE INDEX checkpoints_by_session ON plimsoll.checkpoints (session, created DESC, iteration DESC, checkpoint);
CREATE INDEX checkpoints_by_name ON plimsoll.checkpoints (checkpoint);
CREATE INDEX checkpoints_by_time ON plimsoll.checkpoints (created);

CREATE TABLE plimsoll.saves (
    id text PRIMARY KEY,
    machine text NOT NULL,
    created bigint NOT NULL,
    environment text NOT NULL,
    kind text NOT NULL,
    project text,
    session text,
    checkpoint text,
    commit_hash text,
    task text NOT NULL,
    context text,
    blockers text,
    next_steps text,
    tags text NOT NULL,
    key_artifacts text NOT NULL,
    words tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector('simple', task || ' ' || tags), 'A')
        || setweight(to_tsvector('simple', coalesce(next_steps, '') || ' ' || key_artifacts), 'B')
        || to_tsvector('simple', coalesce(context, '') || ' ' || coalesce(blockers, ''))
    ) STORED
);

CREATE INDEX saves_by_time ON plimsoll.saves (created DESC, id DESC);
CREATE INDEX saves_by_environment ON plimsoll.saves (environment, created DESC, id DESC);
CREATE INDEX saves_by_session ON plimsoll.saves (session, created);
CREATE INDEX saves_by_words ON plimsoll.saves USING gin (words);
