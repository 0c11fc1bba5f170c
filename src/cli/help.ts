interface CommandHelp {
  /** For the list of commands; the text if omitted. */
  readonly summary?: string
  /** What it does, in two sentences, and the page that says more. */
  readonly text: string
  /** What follows the options. */
  readonly after?: string
}

export const PROGRAM =
  prose(`collab-sync copies the comments and users of a collaboration service into PostgreSQL, every night and on demand.

Settings come from the environment or from a file .env in the working directory (docs/SETTINGS.md lists them). Without
DATABASE_URL, collab-sync uses an embedded PostgreSQL in .collab-sync/, which migrate creates. Without REDIS_URL, the queue is
in PostgreSQL.`)

/** The first steps, in the order of README.md and .env.example. */
export const FIRST_STEPS = `\
  copy .env.example to .env               set COLLAB_API_URL, COLLAB_API_KEY, COLLAB_AUTH_TOKEN, and DATABASE_URL
  collab-sync migrate                     create the tables
  collab-sync catalog import FILE         what to sync
  collab-sync doctor                      check settings, connections and credentials
  collab-sync run                         sync once, now`

export const PROGRAM_AFTER = `
Without any setup:
  collab-sync demo                        try everything

First steps:
${FIRST_STEPS}

Then:
  collab-sync worker                      keep running, and sync every night
  collab-sync serve                       open the pages in a browser

Exit codes:
  0 success    1 the run failed    2 wrong usage or settings: nothing was done
  3 partial: some scopes failed, a removal is held or a record was rejected;
    everything else was written
  4 success, but the output could not be written`

const ERASED = `Addresses are erased in all texts, in any letter case and spelling, plain or percent-encoded once; IDs where they are a complete value, an item of a list, a part of a URL, or follow a name such as user:. A pseudonym replaces them, so that rows and counts stay. Later syncs do not store the person again. Runs continue during an erasure. If it is interrupted, repeat the command. sync.erasures keeps the proof.

An address written with HTML references or JSON escapes stays, and so does a bare name in texts of other people; the command prints how many comments contain the name. Backups, replicas, exports and IDs in the catalog are not changed.`

/** By the words of the command. */
export const HELP: Readonly<Record<string, CommandHelp>> = {
  run: {
    summary: 'sync now, in this process',
    text: `Starts a run, executes it in this process, waits for it to finish and prints a summary; no worker is needed. Without
options, the whole catalog is synced. Ctrl-C cancels the run and keeps the data already written. More: docs/OPERATING.md.`,
    after: `
Examples:
  collab-sync run
  collab-sync run --organization acme --document plan --annotation ann-1 --comment 42
  collab-sync run --failed-of 3f2a9c1e
  collab-sync run --organization acme --dry-run

If nothing fails, --failing and --failed-of start no run and exit with 0. They exit with 1 if a run was stopped before it fetched
all scopes: these scopes are not recorded as failed.

Exit codes: 0 success, 1 failed or cancelled, 2 wrong usage (nothing was done), 3 partial (some scopes failed, a removal is held
or a record was rejected; everything else was written).`,
  },
  enqueue: {
    summary: 'start a run on the workers',
    text: `Starts a run for the workers and prints its ID; if no worker is running, the run waits for one. With --wait, it follows
the run and returns the exit code of "run"; Ctrl-C ends only the waiting. More: docs/OPERATING.md.`,
    after: `
Example:
  id=$(collab-sync enqueue) && collab-sync status "$id"`,
  },
  hint: {
    summary: 'report that comments changed',
    text: `Reports that comments of an annotation or document have changed. Continuous refresh fetches them next; if it is off, a
run is started for them. --add needs --annotation. More: docs/PROGRAMS.md.`,
    after: `
Example:
  collab-sync hint --organization acme --document plan --annotation ann-1`,
  },
  worker: {
    summary: 'process jobs until stopped',
    text: `Processes jobs until SIGTERM or SIGINT, and keeps the nightly schedule registered. It then finishes the calls in progress
and exits with 0, within 8 seconds; PostgreSQL keeps the other work. Any number of workers share the work.
More: docs/OPERATING.md.`,
  },
  serve: {
    summary: 'serve pages, API, probes and metrics over HTTP',
    text: `Serves pages for operators, the HTTP API under /v1, probes and metrics until SIGTERM or SIGINT. Without HTTP_TOKEN, it
accepts requests from this machine only; with it, use a reverse proxy that terminates TLS. More: docs/OPERATING.md and
docs/PROGRAMS.md.`,
    after: `
Paths: / for people, /v1 and /openapi.json for programs, /healthz and /readyz for probes, /metrics, /queues.`,
  },
  schedule: {
    summary: 'show, set or remove the nightly schedule',
    text: `The schedule of the nightly run. It applies to all workers and is stored in PostgreSQL once you set it here; until then,
SYNC_CRON and SYNC_TZ apply.`,
  },
  'schedule show': { text: 'Shows the schedule, who set it, and the next nightly run.' },
  'schedule set': {
    text: 'Sets the nightly schedule for all workers. It replaces SYNC_CRON and SYNC_TZ.',
    after: `
Example:
  collab-sync schedule set "30 1 * * 1-5" --tz Europe/Berlin`,
  },
  'schedule remove': {
    text: 'Removes the nightly schedule. No nightly run starts until you set one again; without a pattern, `schedule set` restores it.',
  },
  pace: {
    summary: 'limit the calls a second of all processes',
    text: `Limits the calls that all processes together make per second, within ten seconds and without a restart. The lowest
SYNC_RATE_LIMIT of the live processes stays the upper limit.`,
    after: `
Examples:
  collab-sync pace 10
  collab-sync pace none`,
  },
  pause: {
    summary: 'pause all calls to the service for a while',
    text: `Pauses all calls to the service within ten seconds, in all workers and commands. Runs wait and continue at the end of
the pause; no scope fails because of it, and a nightly run that is due meanwhile starts then. A pause lasts 24 hours at most. During
a pause, the command changes its end.`,
    after: `
Examples:
  collab-sync pause --for 2h --reason "the service is being maintained"
  collab-sync pause --until 2026-01-31T10:00:00Z`,
  },
  resume: { summary: 'end the pause', text: 'Ends the pause of all calls, within ten seconds.' },
  status: {
    summary: 'show recent runs and open problems, or one run',
    text: `Shows recent runs, the age of the data, open problems and continuous refresh. With a run: its state, progress and
counts, why scopes failed, held removals and rejected records. --changes counts and lists the comments that
the run found new, edited, deleted or restored, and the users that joined or left. --workers lists the live processes with their settings and where each comes from. Times are UTC. More: docs/OPERATING.md.`,
  },
  cancel: {
    summary: 'cancel a run',
    text: `Cancels a run. No further calls are made, data already written is kept, and the remaining scopes are skipped.`,
  },
  show: {
    summary: 'show everything stored about one thing',
    text: `Shows everything that is stored about an organization, document, annotation, comment, user or user group: why it exists
or was removed, its last and next check, its events and its contents. With --find, it lists matching runs and things;
--seconds searches a large catalog completely. Times are UTC.`,
    after: `
In an edited comment, [-words-] were removed and {+words+} were added. Put -- before an ID that begins with -.

Examples:
  collab-sync show acme plan ann-1 42
  collab-sync show --user acme ann
  collab-sync show --find ann@example.com`,
  },
  history: {
    summary: 'list the actions of users',
    text: `Lists the actions of users and programs, newest first; nightly runs, continuous refresh and hints are not listed. "says:"
marks a name that a program gave itself and that collab-sync cannot verify.`,
  },
  accept: {
    summary: 'approve a held removal or catalog import',
    text: `Approves a held removal, by run, listing or organization: its users are removed now, and return if a later listing
contains them. With --catalog NUMBER, approves a held catalog import. More: docs/OPERATING.md.`,
  },
  refuse: {
    summary: 'refuse a held removal or catalog import',
    text: `Refuses a held removal, for which --reason is required: the users stay, and the removal is held again only when the
listing changes. With --catalog NUMBER, refuses a held catalog import. More: docs/OPERATING.md.`,
  },
  verify: {
    summary: 'compare the tables with the service',
    text: `Fetches random scopes, or the scope that the options name, and compares each record with the tables. It writes nothing.
Use it while no run is in progress: a run that writes at the same time can cause differences. More: docs/OPERATING.md.`,
    after: `
Exit codes: 0 no difference, 1 differences, 2 wrong usage, 3 no difference, but some scopes could not be fetched.`,
  },
  rejected: {
    summary: 'list and set aside records that could not be stored',
    text: `Records that could not be stored. A run that rejects a whole record is partial (exit code 3), every night, until the
service corrects the record or you set its content aside. More: docs/FAILURES.md.`,
  },
  'rejected list': { text: 'Lists open rejected records, newest first.' },
  'rejected set-aside': { text: 'Sets rejected records aside permanently, by their content.' },
  'rejected restore': { text: 'Reopens rejected records that were set aside.' },
  doctor: {
    summary: 'check settings, connections and credentials',
    text: `Checks settings, service, PostgreSQL, tables, queue and clocks, shows the open problems of status, and says how to fix
each problem. It changes nothing. "next" names a first step that is not done yet. Exit codes: 0 no check fails, 2 a check fails
or a receiver of --notify does not accept the message. More: docs/OPERATING.md.`,
  },
  psql: {
    summary: 'open psql on the collab-sync database',
    text: `Opens psql, the client program of PostgreSQL, on the database of the settings. An embedded PostgreSQL runs until psql ends.`,
    after: `
Example:
  collab-sync psql -c "select * from reporting.comment_activity_daily order by day desc limit 5"`,
  },
  dictionary: {
    summary: 'document every table and view',
    text: `Prints the tables, views, columns and functions with their comments, types, keys and references: docs/DICTIONARY.md, the sources.yml of sql/dbt, or as JSON those of the database.`,
  },
  export: {
    summary: 'write a table or view to a file',
    text: `Writes a snapshot of a table or view of the schemas collab and reporting, in constant memory. An output file is replaced only when the export is complete: an interrupted export leaves the previous file, or none. stderr shows the number of rows and the value of --since or --after for the next export. Use --state to maintain a copy elsewhere: the first export contains all rows, later ones the changed rows, including deletions.`,
    after: `
In CSV, null is an empty cell and an empty text is "". Without --formulas, --after and --state, a text gets a leading apostrophe
if it begins with = + - @ (also after blanks), a tab or a line end. IDs (user_id, ...), numbers and JSON never change.
Spreadsheets change IDs when they open a CSV file: 007 becomes 7, digits after the 15th become 0, and an ID that begins with
= + - @ runs as a formula. Import these columns as text.
Only its owner can read a new file. A killed process can leave FILE.partial-..., which you can delete. A FIFO or device is
written in place. Times are UTC. In Parquet, times are microseconds, numeric is double, jsonb is JSON.

With --after and --state, each row occurs once, in its current version, without checked_at, is_stale, removal_held_since,
removal_refused_at and, except in tables of the catalog, in_catalog. If is_gone is true, delete the row: only its key is set.
person identifies people instead of user_id, because an erasure replaces user_id.
The state file advances when the output file is complete and on disk: load the file, delete it, and export again.

Examples:
  collab-sync export reporting.comments --format parquet --out comments.parquet
  collab-sync export collab.users --organization acme > users.csv
  collab-sync export collab.comments --format ndjson --since 2026-11-20T02:00:00Z --out changed.ndjson
  collab-sync export collab.comments --format parquet --state comments.state --out comments.parquet`,
  },
  changes: {
    summary: 'print changes after a cursor',
    text: `Prints changes of the tables of schema collab, one JSON document per line: cursor, object, change, key, row, at, run_id; for people also person, a keyed hash of their ID. change is added, edited, deleted, restored, removed or erased. The row is the current one, or null if it no longer exists. No change is missing, and the changes of a row are in order. A change can be repeated.`,
    after: `
To maintain a copy: export each table, start with the cursor that the first export prints, and store the cursor of the last
line that you processed. If a cursor is too old, or the database was restored, the exit code is 2: start again with an export.
An open transaction that writes to this database delays the feed; stderr names its session.

Examples:
  collab-sync export collab.comments --out comments.csv
  collab-sync changes --after 5d0c2e7b91aa-1042-1042-0-0
  collab-sync changes --follow --objects comment | your-program`,
  },
  token: {
    summary: 'manage the tokens of serve',
    text: `Manages tokens for serve, which accepts them in addition to HTTP_TOKEN. They have no effect while HTTP_TOKEN is not set: serve then requires no token and accepts only this machine. A token has a name and rights. It does not expire; you can revoke it without a restart. read: everything that only reads, except the queue dashboard. operate: also changes (runs, hints, the catalog, held listings, rejected records, the schedule, the pace and pauses). admin: everything, as HTTP_TOKEN.`,
  },
  'token add': { text: 'Creates a token and prints it once. PostgreSQL stores only its hash.' },
  'token list': {
    text: 'Lists names and rights, who added each token, and the hour of its last use. The tokens themselves are not stored.',
  },
  'token remove': { text: 'Revokes a token and the sessions that used it, within one second.' },
  erase: {
    summary: 'erase a person',
    text: 'Erases the stored data of a person, at once and permanently. It does not prompt for confirmation.',
  },
  'erase user': {
    text: `Permanently erases the name, e-mail addresses, texts and additional fields of a person, in current tables, history, rejected records and messages. ${ERASED}`,
    after: `
Example:
  collab-sync erase user user-17 --reason "request of 2026-11-20, ticket 4711"`,
  },
  'erase email': {
    text: `Permanently erases a person without a user ID: the address, and the data received with it. Use "erase user" for a person with an ID. ${ERASED}`,
  },
  prune: {
    summary: 'delete old history and runs',
    text: `Deletes data that ended before a time: superseded versions of comments and people, past memberships, the feed of changes, finished runs with their items, failures, rejected records and resolved holds, pauses of the calls, and the actions of users. Current rows stay, including deleted comments. It works in small steps: syncs continue, and you can stop and repeat it. PRUNE_OLDER_THAN does the same after each nightly run has started.`,
  },
  demo: {
    summary: 'run a complete example on this machine',
    text: `Runs a complete example on this machine in under a minute, with an embedded PostgreSQL and a stand-in for the service. It
ignores all settings except COLLAB_SYNC_HOME, in which it uses a separate directory; psql, status, show and serve open it with
--demo.`,
  },
  migrate: {
    summary: 'create or upgrade the tables',
    text: `Creates the tables and the schema of the queue, or upgrades them to this version. You can repeat it safely, and run it from
several machines at once; a migration that fails changes nothing. More: docs/OPERATING.md.`,
  },
  catalog: {
    summary: 'import, list and change the catalog',
    text: `The catalog lists what is synced. The service has no operation that lists it, so you provide the list: in a file, or by a
query of your own (CATALOG_SQL). More: docs/OPERATING.md.`,
  },
  'catalog import': {
    text: `Loads a file into the catalog, completely or not at all; a wrong line is reported with its number. With --prune, an import
that would deactivate more than ten scopes and more than 10 % of the catalog or of one organization is held and changes nothing.`,
    after: `
One JSON object per line (NDJSON), or CSV with the same names in its header. A line also adds its parents:
  {"organizationId":"acme","organizationName":"Acme, Inc."}
  {"organizationId":"acme","documentId":"plan","documentName":"Plan"}
  {"organizationId":"acme","documentId":"plan","annotationId":"ann-1"}
  {"organizationId":"acme","organizationUserGroupId":"engineers"}
Names (also organizationUserGroupName) are optional and never sent to the service; "" removes a name.

Exit codes: 0 success, 1 failed, 2 wrong lines or usage, 3 the import is held. With 2 and 3, the catalog is unchanged.`,
  },
  'catalog refresh': {
    text: `Loads the rows of CATALOG_SQL, your query on CATALOG_DATABASE_URL, as each nightly run does at its start.`,
  },
  'catalog show': {
    text: `Counts the organizations, documents, annotations and user groups of the catalog, says how many calls a run of everything makes, and lists the last imports and what a held one lacks; or shows whether one of them is active.`,
  },
  'catalog add': {
    text: `Adds an organization, document, annotation or user groups of one organization, or changes a name. You can repeat it safely.`,
    after: `
Example:
  collab-sync catalog add --organization acme --document plan --annotation ann-1 --add`,
  },
  'catalog remove': {
    text: `Deactivates an organization, document, annotation or user group and everything in it. It is not fetched any more; its rows
stay. An import that lists it activates it again.`,
  },
  'catalog list': {
    text: `Lists the annotations of a document, the user groups and documents of an organization, or all organizations.`,
  },
}

/** Joins the lines of each paragraph: commander wraps them to the width of the terminal. */
export function prose(text: string): string {
  return text.replace(/(?<!\n)\n(?!\n)/g, ' ')
}
