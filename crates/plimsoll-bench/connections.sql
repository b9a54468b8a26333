-- How many connections the team's machine keeps, the one that asks aside.
SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
