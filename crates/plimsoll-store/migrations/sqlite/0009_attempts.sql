-- How many times a job had been tried when a session of it began: one that tries again goes on with
-- nothing.
ALTER TABLE run_legs ADD COLUMN attempt INTEGER NOT NULL DEFAULT 1;

-- What is known of runs does not tell that: their journals are read again, and what estimates have learned
-- stays.
DELETE FROM sources WHERE path GLOB '*/runs/*.jsonl';
DELETE FROM runs;
