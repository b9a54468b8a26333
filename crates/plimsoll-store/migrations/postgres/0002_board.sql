-- Messages on their way to sessions on other machines. `body` is the message as it lies in an inbox.
-- One that has been delivered stays until it expires, so that it is not delivered again.
CREATE TABLE plimsoll.messages (
    message text PRIMARY KEY,
    session text NOT NULL,
    machine text NOT NULL,
    body text NOT NULL,
    expires bigint NOT NULL,
    delivered bigint
);

CREATE INDEX messages_by_session ON plimsoll.messages (session) WHERE delivered IS NULL;

-- Who works on which path of which machine.
CREATE TABLE plimsoll.claims (
    machine text NOT NULL,
    path text NOT NULL,
    holder text NOT NULL,
    since bigint NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (machine, path)
);
