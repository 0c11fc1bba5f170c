/**
 * The prose of `--help`: what a command does, in two sentences, and the page that says more. Text that follows the options ends
 * in `_AFTER`.
 */

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
  3 partial: some scopes failed or a removal is held; everything else was written
  4 success, but the output could not be written`

export const RUN =
  prose(`Starts a run, executes it in this process, waits for it to finish and prints a summary; no worker is needed. Without
options, the whole catalog is synced. Ctrl-C cancels the run and keeps the data already written. More: docs/OPERATING.md.`)

export const RUN_AFTER = `
Examples:
  collab-sync run
  collab-sync run --organization acme --document plan --annotation ann-1 --comment 42
  collab-sync run --failed-of 3f2a9c1e
  collab-sync run --organization acme --dry-run

If nothing fails, --failing and --failed-of start no run and exit with 0. They exit with 1 if a run was stopped before it fetched
all scopes: these scopes are not recorded as failed.

Exit codes: 0 success, 1 failed or cancelled, 2 wrong usage (nothing was done), 3 partial (some scopes failed, a removal is held
or a record was rejected; everything else was written).`

export const ENQUEUE =
  prose(`Starts a run for the workers and prints its ID; if no worker is running, the run waits for one. With --wait, it follows
the run and returns the exit code of "run"; Ctrl-C ends only the waiting. More: docs/OPERATING.md.`)

export const ENQUEUE_AFTER = `
Example:
  id=$(collab-sync enqueue) && collab-sync status "$id"`

export const HINT =
  prose(`Reports that comments of an annotation or document have changed. Continuous refresh fetches them next; if it is off, a
run is started for them. --add needs --annotation. More: docs/PROGRAMS.md.`)

export const HINT_AFTER = `
Example:
  collab-sync hint --organization acme --document plan --annotation ann-1`

export const WORKER =
  prose(`Processes jobs until SIGTERM or SIGINT, and keeps the nightly schedule registered. It then finishes the calls in progress
and exits with 0, within 8 seconds; PostgreSQL keeps the other work. Any number of workers share the work.
More: docs/OPERATING.md.`)

export const SERVE =
  prose(`Serves pages for operators, the HTTP API under /v1, probes and metrics until SIGTERM or SIGINT. Without HTTP_TOKEN, it
accepts requests from this machine only; with it, use a reverse proxy that terminates TLS. More: docs/OPERATING.md and
docs/PROGRAMS.md.`)

export const SERVE_AFTER = `
Paths: / for people, /v1 and /openapi.json for programs, /healthz and /readyz for probes, /metrics, /queues.`

export const SCHEDULE =
  prose(`The schedule of the nightly run. It applies to all workers and is stored in PostgreSQL once you set it here; until then,
SYNC_CRON and SYNC_TZ apply.`)

export const SCHEDULE_SET_AFTER = `
Example:
  collab-sync schedule set "30 1 * * 1-5" --tz Europe/Berlin`

export const STATUS =
  prose(`Shows recent runs, the age of the data, open problems and continuous refresh. With a run: its state, progress and
counts, why scopes failed, held removals and rejected records. Times are UTC. More: docs/OPERATING.md.`)

export const SHOW =
  prose(`Shows everything that is stored about an organization, document, annotation, comment, user or user group: why it exists
or was removed, its last and next check, its events and its contents. With --find, it lists matching runs and things. Times are UTC.`)

export const SHOW_AFTER = `
In an edited comment, [-words-] were removed and {+words+} were added. Put -- before an ID that begins with -.

Examples:
  collab-sync show acme plan ann-1 42
  collab-sync show --user acme ann
  collab-sync show --find ann@example.com`

export const CANCEL = prose(
  `Cancels a run. No further calls are made, data already written is kept, and the remaining scopes are skipped.`,
)

export const HISTORY =
  prose(`Lists the actions of users and programs, newest first; nightly runs, continuous refresh and hints are not listed. "says:"
marks a name that a program gave itself and that collab-sync cannot verify.`)

export const ACCEPT =
  prose(`Approves a held removal, by run, listing or organization: its users are removed now, and return if a later listing
contains them. With --catalog NUMBER, approves a held catalog import. More: docs/OPERATING.md.`)

export const REFUSE =
  prose(`Refuses a held removal, for which --reason is required: the users stay, and the removal is held again only when the
listing changes. With --catalog NUMBER, refuses a held catalog import. More: docs/OPERATING.md.`)

export const VERIFY =
  prose(`Fetches random scopes, or the scope that the options name, and compares each record with the tables. It writes nothing.
Use it while no run is in progress: a run that writes at the same time can cause differences. More: docs/OPERATING.md.`)

export const VERIFY_AFTER = `
Exit codes: 0 no difference, 1 differences, 2 wrong usage, 3 no difference, but some scopes could not be fetched.`

export const REJECTED =
  prose(`Records that could not be stored. A run that rejects a whole record is partial (exit code 3), every night, until the
service corrects the record or you set its content aside. More: docs/FAILURES.md.`)

export const DOCTOR =
  prose(`Checks settings, service, PostgreSQL, tables, queue and clocks, shows the open problems of status, and says how to fix
each problem. It changes nothing. "next" names a first step that is not done yet. Exit codes: 0 no check fails, 2 a check fails
or a receiver of --notify does not accept the message. More: docs/OPERATING.md.`)

export const PSQL = prose(
  `Opens psql, the client program of PostgreSQL, on the database of the settings. An embedded PostgreSQL runs until psql ends.`,
)

export const PSQL_AFTER = `
Example:
  collab-sync psql -c "select * from reporting.comment_activity_daily order by day desc limit 5"`

export const DICTIONARY = prose(
  `Prints the tables, views, columns and functions with their comments, types, keys and references: docs/DICTIONARY.md, the sources.yml of sql/dbt, or as JSON those of the database.`,
)

export const DEMO =
  prose(`Runs a complete example on this machine in under a minute, with an embedded PostgreSQL and a stand-in for the service. It
ignores all settings except COLLAB_SYNC_HOME, in which it uses a separate directory; psql, status, show and serve open it with
--demo.`)

export const MIGRATE =
  prose(`Creates the tables and the schema of the queue, or upgrades them to this version. You can repeat it safely, and run it from
several machines at once; a migration that fails changes nothing. More: docs/OPERATING.md.`)

export const CATALOG =
  prose(`The catalog lists what is synced. The service has no operation that lists it, so you provide the list: in a file, or by a
query of your own (CATALOG_SQL). More: docs/OPERATING.md.`)

export const CATALOG_IMPORT =
  prose(`Loads a file into the catalog, completely or not at all; a wrong line is reported with its number. With --prune, an import
that would deactivate more than ten scopes and more than 10 % of the catalog or of one organization is held and changes nothing.`)

export const CATALOG_IMPORT_AFTER = `
One JSON object per line (NDJSON), or CSV with the same names in its header. A line also adds its parents:
  {"organizationId":"acme","organizationName":"Acme, Inc."}
  {"organizationId":"acme","documentId":"plan","documentName":"Plan"}
  {"organizationId":"acme","documentId":"plan","annotationId":"ann-1"}
  {"organizationId":"acme","organizationUserGroupId":"engineers"}
Names (also organizationUserGroupName) are optional and never sent to the service; "" removes a name.

Exit codes: 0 success, 1 failed, 2 wrong lines or usage, 3 the import is held. With 2 and 3, the catalog is unchanged.`

export const CATALOG_ADD = prose(
  `Adds an organization, document, annotation or user groups of one organization. You can repeat it safely.`,
)

export const CATALOG_ADD_AFTER = `
Example:
  collab-sync catalog add --organization acme --document plan --annotation ann-1 --add`

export const CATALOG_REMOVE =
  prose(`Deactivates an organization, document, annotation or user group and everything in it. It is not fetched any more; its rows
stay. An import that lists it activates it again.`)

export const CATALOG_SHOW = prose(
  `Counts the organizations, documents, annotations and user groups of the catalog, and lists the last imports and what a held one lacks; or shows whether one of them is active.`,
)

export const CATALOG_LIST = prose(
  `Lists the annotations of a document, the user groups and documents of an organization, or all organizations.`,
)

export const CATALOG_REFRESH = prose(
  `Loads the rows of CATALOG_SQL, your query on CATALOG_DATABASE_URL, as each nightly run does at its start.`,
)

/** Joins the lines of each paragraph: commander wraps them to the width of the terminal. */
function prose(text: string): string {
  return text.replace(/(?<!\n)\n(?!\n)/g, ' ')
}
