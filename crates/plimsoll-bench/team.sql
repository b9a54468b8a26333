-- Fills the database of a team of forty machines: 5,000 sessions with a million readings, 20,000 of them in one session;
-- 100,000 checkpoints of about two kilobytes, and 100,000 saves.
INSERT INTO plimsoll.machines
SELECT 'machine-' || n, 'host-' || n, 'person-' || n % 20, '0.1.0', 1763200000000 + n
FROM generate_series(1, 40) AS n;

INSERT INTO plimsoll.sessions
SELECT 'session-' || n, 'machine-' || n % 40 + 1, 'claude-code', '/home/person/project-' || n % 100,
    '2.1.197', 'claude-opus-4-6', 1763000000000 + n * 1000, 1763100000000 + n * 1000
FROM generate_series(0, 4999) AS n;

INSERT INTO plimsoll.readings
SELECT 'session-' || n % 5000, CASE WHEN n % 10 = 3 THEN 'agent-' || n % 3 ELSE '' END, 'msg-' || n,
    1763000000000 + n * 100, 'claude-opus-4-6', 20000 + n / 5000 % 150 * 1000, 500, n / 5000
FROM generate_series(1, 980000) AS n;

INSERT INTO plimsoll.readings
SELECT 'session-0', '', 'more-' || n, 1763098000000 + n * 100, 'claude-opus-4-6', 20000 + n % 140000, 500, n
FROM generate_series(1, 20000) AS n;

INSERT INTO plimsoll.compactions
SELECT 'session-' || n % 5000, '', 'entry-' || n, 1763000000000 + n * 9000, 'claude-opus-4-6', '2.1.197', true,
    167000, 12000
FROM generate_series(1, 10000) AS n;

INSERT INTO plimsoll.checkpoints
SELECT 'session-' || n % 5000, '2026-11-15-' || n, 'machine-' || n % 40 + 1, '/home/person/' || n || '.md',
    '/home/person/project-' || n % 100, 1763000000000 + n * 1000, 'auto', n / 5000, false, 120000, 200000,
    'Implementing feature ' || n || ' - 3 files modified',
    '## What Changed' || chr(10) || repeat('[src/' || md5(n::text) || '.rs:1] - edited' || chr(10), 30)
FROM generate_series(1, 100000) AS n;

INSERT INTO plimsoll.saves (id, machine, created, environment, kind, project, session, checkpoint, commit_hash, task,
    context, blockers, next_steps, tags, key_artifacts)
SELECT 'save-' || n, 'machine-' || n % 40 + 1, 1763000000000 + n * 1000,
    CASE WHEN n % 1000 = 7 THEN 'release' WHEN n % 2 = 0 THEN 'staging' ELSE 'development' END,
    CASE WHEN n % 4 = 0 THEN 'auto' ELSE 'manual' END, '/home/person/project-' || n % 100,
    'session-' || n % 5000, NULL, NULL, 'Careen the hull ' || n % 500 || ' word' || n % 5000,
    'context of ' || md5(n::text) || ' and ' || md5((n % 77)::text), NULL, 'test step' || n % 300,
    'tag' || n % 50, 'src/file' || n % 900 || '.rs'
FROM generate_series(1, 100000) AS n;

