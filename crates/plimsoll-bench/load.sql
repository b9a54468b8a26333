-- Lists the checkpoints in the team's database by name, and the number of readings.
SELECT checkpoint FROM plimsoll.checkpoints
UNION ALL
SELECT count(*)::text FROM plimsoll.readings
