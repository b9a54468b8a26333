-- A restore uses manual saves and auto-saves. There may be many saves of commits and test runs
-- besides.
DROP INDEX asked_saves_by_time;
DROP INDEX asked_saves_by_environment;
CREATE INDEX restorable_saves_by_time ON saves (created, number) WHERE kind IN ('manual', 'auto');
CREATE INDEX restorable_saves_by_environment ON saves (environment, created, number)
    WHERE kind IN ('manual', 'auto');

-- A commit has one row in each environment in which it was saved. The journal is read again to add
-- missing rows.
DELETE FROM sources WHERE path GLOB '*/saves.jsonl';
