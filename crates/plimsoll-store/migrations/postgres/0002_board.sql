-- Messages to sessions on other machines. `body` is the message in the format of an inbox file. A
-- delivered message stays until it expires, so that it is not delivered again.
CREATE TABLE plimsoll.messages (
    message text PRIMARY KEY,
    session text NOT NULL,
    machine text NOT NULL,
    body text NOT NULL,
    expires bigint NOT NULL,
    delivered bigint
);

CREATE INDEX messages_by_session ON plimsoll.messages (session) WHERE delivered IS NULL;

-- Claims: who works on which path of which machine.
CREATE TABLE plimsoll.claims (
    machine text NOT NULL,
    path text NOT NULL,
    holder text NOT NULL,
    since bigint NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (machine, path)
);
