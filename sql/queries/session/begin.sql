-- Sets for this session what its role, its database or a client before us may have set otherwise. Where a pooler answered
-- the connection's start, the process is another one than it said ($1): then nothing is set, and no row comes, unless it is
-- known that the session stays ours ($2), since others would get our settings.
-- Params: $1 processId, $2 isHeld, $3 searchPath.
select set_config(name, value, false)
from (values
  ('search_path', $3),
  ('DateStyle', 'ISO, MDY'),
  ('IntervalStyle', 'postgres'),
  ('TimeZone', 'UTC'),
  ('bytea_output', 'hex'),
  ('extra_float_digits', '1'),
  ('default_transaction_isolation', 'read committed'),
  -- Long enough for any statement of ours; a session that hangs must not hold its locks for ever.
  ('statement_timeout', '10min'),
  ('idle_in_transaction_session_timeout', '5min'),
  ('idle_session_timeout', '0'),
  ('lock_timeout', '0'),
  -- To compile a statement of ours takes longer than it saves: most of its branches have no rows.
  ('jit', 'off'),
  -- Of PostgreSQL 17 and newer.
  ('transaction_timeout', '0')
) as setting(name, value)
where current_setting(name, true) is not null and ($2 or pg_backend_pid() = $1)
