-- The time of the last thinning of a session's readings.
ALTER TABLE sessions ADD COLUMN thinned INTEGER NOT NULL DEFAULT 0;
