-- What has reached the team: the checkpoints by name, and how many readings.
SELECT checkpoint FROM plimsoll.checkpoints
UNION ALL
SELECT count(*)::text FROM plimsoll.readings
