-- Sets parameters of this session that its role, its database or a previous client may have set differently. If a
-- pooler answered the connection's start, the process differs from the announced one ($1). Then nothing is set and no
-- row is returned, unless the session is known to stay exclusive ($2), because other clients would get our settings.
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
  -- Long enough for all our statements; a session that hangs must not hold its locks forever.
  ('statement_timeout', '10min'),
  ('idle_in_transaction_session_timeout', '5min'),
  ('idle_session_timeout', '0'),
  ('lock_timeout', '0'),
  -- Compiling our statements takes longer than it saves, because most of their branches have no rows.
  ('jit', 'off'),
  -- Of PostgreSQL 17 and newer.
  ('transaction_timeout', '0')
) as setting(name, value)
where current_setting(name, true) is not null and ($2 or pg_backend_pid() = $1)
