-- Rows that wait to be sent to a team's database, each once, however often it has changed. `kind`
-- is the table and `row` the id. A row that changes while it is being sent gets a new number, so
-- that it is sent again.
CREATE TABLE outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    row ANY NOT NULL,
    UNIQUE (kind, row)
) STRICT;

-- Tables that still have rows to read after the id `after`: rows that are older than the team.
CREATE TABLE outbox_sweep (
    place INTEGER PRIMARY KEY,
    kind TEXT NOT NULL UNIQUE,
    after ANY NOT NULL
) STRICT;

-- The triggers do nothing as long as there is no team.
CREATE TRIGGER sessions_come_to_ship AFTER INSERT ON sessions
WHEN EXISTS (SELECT 1 FROM meta WHERE name = 'team') BEGIN
    DELETE FROM outbox WHERE kind = 'sessions' AND row = new.id;
    INSERT INTO outbox (kind, row) VALUES ('sessions', new.id);
END;

CREATE TRIGGER sessions_change_to_ship AFTER UPDATE OF project, version, model, started, last_seen ON sessions
WHEN EXISTS (SELECT 1 FROM meta WHERE name = 'team')
    AND (old.last_seen <> new.last_seen OR old.started <> new.started OR old.project IS NOT new.project
        OR old.version IS NOT new.version OR old.model IS NOT new.model) BEGIN
    DELETE FROM outbox WHERE kind = 'sessions' AND row = new.id;
    INSERT INTO outbox (kind, row) VALUES ('sessions', new.id);
END;

CREATE TRIGGER readings_come_to_ship AFTER INSERT ON readings
WHEN EXISTS (SELECT 1 FROM meta WHERE name = 'team') BEGIN
    INSERT INTO outbox (kind, row) VALUES ('readings', new.id);
END;

CREATE TRIGGER readings_change_to_ship AFTER UPDATE ON readings
WHEN EXISTS (SELECT 1 FROM meta WHERE name = 'team') BEGIN
    DELETE FROM outbox WHERE kind = 'readings' AND row = new.id;
    INSERT INTO outbox (kind, row) VALUES ('readings', new.id);
END;

CREATE TRIGGER compactions_come_to_ship AFTER INSERT ON compactions
WHEN EXISTS (SELECT 1 FROM meta WHERE name = 'team') BEGIN
    INSERT INTO outbox (kind, row) VALUES ('compactions', new.id);
END;

CREATE TRIGGER checkpoints_come_to_ship AFTER INSERT ON checkpoints
WHEN EXISTS (SELECT 1 FROM meta WHERE name = 'team') BEGIN
    INSERT INTO outbox (kind, row) VALUES ('checkpoints', new.id);
END;

CREATE TRIGGER saves_come_to_ship AFTER INSERT ON saves
WHEN EXISTS (SELECT 1 FROM meta WHERE name = 'team') BEGIN
    INSERT INTO outbox (kind, row) VALUES ('saves', new.id);
END;

CREATE TRIGGER saves_change_to_ship AFTER UPDATE ON saves
WHEN EXISTS (SELECT 1 FROM meta WHERE name = 'team') BEGIN
    DELETE FROM outbox WHERE kind = 'saves' AND row = new.id;
    INSERT INTO outbox (kind, row) VALUES ('saves', new.id);
END;
