-- Until when the readings of a session have been thinned.
ALTER TABLE sessions ADD COLUMN thinned INTEGER NOT NULL DEFAULT 0;
