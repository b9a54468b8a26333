-- The attempt at its job that a session belongs to, counted from 1. A new attempt starts from
-- nothing.
ALTER TABLE run_legs ADD COLUMN attempt INTEGER NOT NULL DEFAULT 1;

-- Stored runs lack this number, so their journals are read again. Data for estimates stays.
DELETE FROM sources WHERE path GLOB '*/runs/*.jsonl';
DELETE FROM runs;
