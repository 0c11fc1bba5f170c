const SETTLE = 'test/database/settle.pg.test.ts'
const CLAIMS = 'test/database/claims.pg.test.ts'
const HELD = 'test/database/held.pg.test.ts'
const SLOTS = 'test/rate-limit/slots.soak.test.ts'
const CATALOG = 'test/catalog/import.pg.test.ts'
const PRUNE = 'test/privacy/prune.pg.test.ts'
const AUTHORS = 'test/sync/author-times.pg.test.ts'
const RECORD = 'test/sync/record-boundary.pg.test.ts'
const THREADS = 'test/sync/new-threads.pg.test.ts'
const ACCEPT = 'test/sync/accept-held.pg.test.ts'

/**
 * Decisions that SQL and Lua make, and one module that needs a server, each changed by hand: [a text that is in the file once, what stands in its place].
 * `tests` must notice every one of them.
 * @type {{ file: string, tests: string[], mutants: [string, string][] }[]}
 */
export const STATEMENT_MUTANTS = [
  {
    file: 'sql/queries/runs/settle.sql',
    tests: [SETTLE],
    mutants: [
      // What a run that was asked to end is called.
      ['status = coalesce(r.stopping, t.status),', 'status = coalesce(t.status, r.stopping),'],
      ['status = coalesce(r.stopping, t.status),', 'status = t.status,'],
      ['when sum(scopes_failed) > 0 and sum', 'when sum(scopes_failed) > 1 and sum'],
      ['sum(scopes_succeeded + scopes_held) = 0 then', 'sum(scopes_succeeded) = 0 then'],
      [
        'when sum(scopes_failed) > 0 and sum(scopes_succeeded + scopes_held) = 0 then',
        'when sum(scopes_failed) > 0 then',
      ],
      ['when sum(scopes_failed + scopes_held) > 0 or', 'when sum(scopes_failed) > 0 or'],
      ['when sum(scopes_failed + scopes_held) > 0 or', 'when sum(scopes_held) > 0 or'],
      ['and is_whole and set_aside_at is null', 'and set_aside_at is null'],
      ['and is_whole and set_aside_at is null', 'and is_whole'],
      ['where run_id = $1 and is_whole', 'where is_whole'],
      ['and r.finished_at is null', ''],
      [
        "\n  and not exists (select from sync.run_items i where i.run_id = $1 and i.state = 'pending')",
        '',
      ],
      ['problem = coalesce(r.problem, case', 'problem = coalesce(null, case'],
      ["case when coalesce(r.stopping, t.status) <> 'succeeded' then $2 end", '$2'],
      ['started_at = coalesce(r.started_at, now()),', 'started_at = now(),'],
      [
        'records_updated + records_unchanged + records_rejected + records_null',
        'records_updated + records_unchanged + records_null',
      ],
    ],
  },
  {
    file: 'sql/queries/runs/stop.sql',
    tests: [SETTLE],
    mutants: [
      [' and stopping is null', ''],
      ['finished_at is null and', 'true and'],
      ['coalesce(problem, $3)', 'coalesce($3, problem)'],
    ],
  },
  {
    file: 'sql/queries/runs/begin.sql',
    tests: [SETTLE],
    mutants: [[" and status = 'queued'", '']],
  },
  {
    file: 'sql/queries/items/unsettled.sql',
    tests: [SETTLE],
    mutants: [
      [" and i.state = 'pending'", ''],
      ["status in ('queued', 'running')", 'true'],
    ],
  },
  {
    file: 'sql/queries/items/skip.sql',
    tests: [SETTLE],
    mutants: [
      [" and i.state = 'pending'", ''],
      [' and r.stopping is not null', ''],
      ['i.item_id = $2 or not exists', '$2::bigint is null or not exists'],
      ['w.heartbeat_at > now()', 'w.heartbeat_at < now()'],
      ['w.worker_id = i.worker_id and ', ''],
      [' - i.scopes_failed - i.scopes_held', ' - i.scopes_failed'],
      [
        'scopes_skipped = i.scopes_planned - i.scopes_succeeded',
        'scopes_skipped = i.scopes_planned',
      ],
    ],
  },
  {
    file: 'sql/queries/items/claim.sql',
    tests: [CLAIMS],
    mutants: [
      ['(not $4)::int', '($4::boolean is not null)::int'],
      ['coalesce(i.claimed_at, now())', 'now()'],
      [" and i.state = 'pending'", ''],
      ['i.run_id = $1 and i.item_id', '$1::uuid is not null and i.item_id'],
      ['(select b.xmin::text from', "(select '3' from"],
      ['max(e.erasure_id)', 'min(e.erasure_id)'],
      ["nextval('sync.claim_no')", '1::bigint'],
      ['now() as at', 'i.claimed_at as at'],
    ],
  },
  {
    file: 'sql/queries/items/commit.sql',
    tests: [CLAIMS],
    mutants: [
      ['(version = $4 or xmin in', '(version = $4 and xmin in'],
      ['(version = $4 or xmin in', '(xmin in'],
      ['xmin in ($32::text::xid,', 'true or xmin in ($32::text::xid,'],
      ['case when $7 and $8 then', 'case when $7 and $8::boolean is not null then'],
      ['case when $7 and $8 then', 'case when $8 then'],
      ["state = 'pending' and exists (select from held_batch)", "state = 'pending'"],
      ["and state = 'pending' and exists", 'and exists'],
      ['then 0 else attempts end', 'then attempts else attempts end'],
      ['is distinct from $6::text::varbit then 0', 'is not distinct from $6::text::varbit then 0'],
      ["case when $7 then 'done' else 'pending' end", "'done'"],
      ['+ scopes_held + scopes_skipped + $11', '+ scopes_held + $11'],
      ['set version = $4,', 'set version = $32,'],
    ],
  },
  {
    file: 'sql/queries/items/lost.sql',
    tests: [CLAIMS],
    mutants: [
      [" and i.state = 'pending'", ''],
      ["r.status in ('queued', 'running')", "r.status = 'running'"],
      ["r.status in ('queued', 'running') and", ''],
      ['w.worker_id is null or ', ''],
      ['w.heartbeat_at < now()', 'w.heartbeat_at > now()'],
      ['i.item_id <> all($4)', '$4::bigint[] is not null'],
      ['left join sync.workers', 'join sync.workers'],
    ],
  },
  {
    file: 'sql/queries/workers/heartbeat.sql',
    tests: [CLAIMS],
    mutants: [['set heartbeat_at = now(), calls', 'set calls']],
  },
  {
    file: 'sql/queries/workers/count-alive.sql',
    tests: [CLAIMS],
    mutants: [['heartbeat_at >= now()', 'heartbeat_at <= now()']],
  },
  {
    file: 'sql/queries/workers/leave.sql',
    tests: [CLAIMS],
    mutants: [
      ["interval '1 day'", "interval '1 minute' / 3"],
      [" or heartbeat_at < now() - interval '1 day'", ''],
    ],
  },
  {
    file: 'sql/queries/held/note.sql',
    tests: [HELD],
    mutants: [
      ['when $2 and h.run_id <> excluded.run_id', 'when h.run_id <> excluded.run_id'],
      ['when $2 and h.run_id <> excluded.run_id', 'when $2'],
      ['when h.content_digest <> excluded.content_digest then 0', 'when false then 0'],
      ['set run_id = excluded.run_id, users_before', 'set users_before'],
      ['then h.repeats + 1', 'then h.repeats'],
      ['then h.at else now() end', 'then now() else h.at end'],
      ['content_digest = excluded.content_digest,\n', 'content_digest = h.content_digest,\n'],
      ['missing_user_ids = excluded.missing_user_ids', 'missing_user_ids = h.missing_user_ids'],
    ],
  },
  {
    file: 'sql/queries/held/take.sql',
    tests: [HELD],
    mutants: [
      ['\nfor update', ''],
      [' and run_id = $2', ' and $2::uuid is not null'],
      [' and resolved_at is null', ''],
    ],
  },
  {
    file: 'sql/queries/held/resolve.sql',
    tests: [HELD],
    mutants: [
      [' and resolved_at is null', ''],
      ['kind = $1 and', '$1::text is not null and'],
      ['scope_key = any($2::int[])', '$2::int[] is not null'],
    ],
  },
  {
    file: 'sql/queries/held/count.sql',
    tests: [HELD],
    mutants: [
      ['resolved_at is null and ', ''],
      ['$1::uuid is null or ', ''],
    ],
  },
  {
    file: 'sql/queries/held/list.sql',
    tests: [HELD],
    mutants: [
      ['resolved_at is null and', ''],
      ['held_id > $2', 'held_id >= $2'],
    ],
  },
  {
    file: 'sql/queries/rate-limit/take.sql',
    tests: [SLOTS],
    mutants: [
      [
        'clock_timestamp() + ($2::float8 - $3::float8)',
        'clock_timestamp() + ($2::float8 + $3::float8)',
      ],
      ['    then pace.next_at\n  else', "    then pace.next_at + interval '1 minute'\n  else"],
      ['    greatest(\n', '    least(\n'],
      [
        'when pace.next_at <= clock_timestamp() + $4',
        'when pace.next_at >= clock_timestamp() + $4',
      ],
      [") + $2::float8 * interval '1 millisecond'", ')'],
      ['* 1000 - $2::float8 as wait_ms', '* 1000 as wait_ms'],
      ['      clock_timestamp() - $3', '      clock_timestamp() + $3'],
      [
        '    and pace.paused_until <= clock_timestamp() + $5',
        '    or pace.paused_until <= clock_timestamp() + $5',
      ],
    ],
  },
  {
    file: 'sql/queries/rate-limit/pause.sql',
    tests: [SLOTS],
    mutants: [
      ['paused_until = greatest(', 'paused_until = least('],
      ['when pace.paused_until <= clock_timestamp()', 'when pace.paused_until > clock_timestamp()'],
    ],
  },
  {
    file: 'sql/queries/rate-limit/read.sql',
    tests: [SLOTS],
    mutants: [
      ['  and paused_until > clock_timestamp()\n', ''],
      [
        '\n  and paused_until <= clock_timestamp()',
        '\n  and $2 > 0 or paused_until <= clock_timestamp()',
      ],
    ],
  },
  {
    file: 'src/rate-limit/redis.ts',
    tests: [SLOTS],
    mutants: [
      ['then next = 0 end', 'then next = now + 30000 end'],
      ['if paused < 0 or paused >', 'if paused >'],
      ['if paused < 0 or paused > ${MAX_PAUSE_MS} then paused = 0 end', ''],
      ["if paused > 0 then return { tostring(paused), '0' } end", ''],
      ['math.max(next, now - tonumber(ARGV[3]))', 'math.min(next, now - tonumber(ARGV[3]))'],
      ['now - tonumber(ARGV[3])', 'now + tonumber(ARGV[3])'],
      ['first + tonumber(ARGV[1]) * tonumber(ARGV[2])', 'first + tonumber(ARGV[1])'],
      ['math.max(paused, tonumber(ARGV[1]))', 'tonumber(ARGV[1])'],
      ["string.format('%.3f', now + longer)", "string.format('%.3f', longer)"],
      ['time[1] * 1000 + time[2] / 1000', 'time[1] * 1000'],
      ['after))\n${KEEP}', 'after))'],
      ['now + longer))\n${KEEP}', 'now + longer))'],
    ],
  },
  {
    file: 'sql/queries/users/change.sql',
    tests: [AUTHORS],
    mutants: [
      ['n.source_at > u.source_at', 'n.source_at < u.source_at'],
      ['where n.source > u.source\n', 'where n.source < u.source\n'],
      ['or n.source_at is not null', ''],
      ['and n.source_at = u.source_at)', 'and n.source_at <= u.source_at)'],
    ],
  },
  {
    file: 'sql/queries/catalog/deactivate-organizations.sql',
    tests: [CATALOG],
    mutants: [
      ['coalesce(o.own_checked_at, b.checked_at,', 'coalesce(b.checked_at, o.own_checked_at,'],
      ['where o.active and b.', 'where b.'],
      ['and not exists (select from import_lines', 'and exists (select from import_lines'],
    ],
  },
  {
    file: 'sql/queries/prune/runs.sql',
    tests: [PRUNE],
    mutants: [
      [
        ' and not exists (select from sync.held h where h.run_id = r.run_id and h.resolved_at is null)',
        '',
      ],
      [' and h.resolved_at is null', ''],
      ['r.finished_at < $1', 'r.finished_at > $1'],
    ],
  },
  {
    file: 'sql/queries/comments/delete.sql',
    tests: [RECORD, THREADS],
    mutants: [
      ['where c.deleted_at is null', ''],
      ["version = c.version + 1, change = 'deleted'", "version = c.version, change = 'deleted'"],
    ],
  },
  {
    // No decision but what these statements make together: it needs a server.
    file: 'src/sync/held.ts',
    tests: [ACCEPT],
    mutants: [
      ['if (places.length === 0) {', 'if (places.length < 0) {'],
      ['removed += left', 'removed = left'],
      ['.filter((userId) => present.has(userId))', ''],
      ['present.size - leaving.length', 'present.size'],
      ["  await resolveHeld(client, held.kind, [held.scopeKey], 'accepted')\n", ''],
      ['([, hasLeft]) => !hasLeft', '() => true'],
      ['await unlistUsers(client, key, userIds, now)', ''],
      ['{ runId, organizationId })', '{ runId, organizationId: null })'],
    ],
  },
]
