-- `session` is the agent's own id, followed by `@agent` for every agent but claude-code. So rows of
-- earlier releases keep their keys, and two agents may use the same id.
CREATE INDEX sessions_by_agent ON sessions (agent, last_seen);

-- A fork repeats its parent's compactions: here each appears once, with its model if one copy has it.
DROP VIEW distinct_compactions;
CREATE VIEW distinct_compactions AS
SELECT * FROM (
    SELECT compactions.*, sessions.agent, row_number() OVER (
        PARTITION BY sessions.agent, entry
        ORDER BY compactions.model IS NULL, compactions.session, subagent
    ) AS copy
    FROM compactions JOIN sessions ON sessions.session = compactions.session
) WHERE copy = 1;
