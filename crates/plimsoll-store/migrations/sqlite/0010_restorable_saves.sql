-- A restore takes what a person or a full window saved; commits and runs of tests may be many beside them.
DROP INDEX asked_saves_by_time;
DROP INDEX asked_saves_by_environment;
CREATE INDEX restorable_saves_by_time ON saves (created, number) WHERE kind IN ('manual', 'auto');
CREATE INDEX restorable_saves_by_environment ON saves (environment, created, number)
    WHERE kind IN ('manual', 'auto');

-- A commit is a row in each environment that it was saved in: the journal is read again for those rows
-- that are missing.
DELETE FROM sources WHERE path GLOB '*/saves.jsonl';
