/** The prose of `--help`, one constant per command; text that follows the options ends in `_AFTER`. */

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
  prose(`Starts a run, executes it in this process, waits for it to finish and prints a summary. No worker is needed, so you can
use it in a cron job. Without options, the whole catalog is synced. Ctrl-C cancels the run; data already written is kept. You can start a run while another one is in
progress: older responses never overwrite newer ones.`)

export const RUN_AFTER = `
Examples:
  collab-sync run
  collab-sync run --organization acme --operations comments
  collab-sync run --organization acme --document plan --annotation ann-1 --comment 42
  collab-sync run --organization acme --user ann --user bob
  collab-sync run --failed-of 3f2a9c1e
  collab-sync run --organization acme --failing
  collab-sync run --organization acme --dry-run

With --dry-run, collab-sync fetches and checks every scope as in a run, but writes nothing. It prints each scope that would
change, then the totals.

If nothing fails, --failing and --failed-of start no run: the command says so and exits with 0, and --json prints
{"runId":null,"reason":"…"}. They exit with 1 if a run was stopped before it fetched all scopes, for example because the service
refused the token: these scopes are not recorded as failed.

Exit codes: 0 success, 1 failed or cancelled, 2 wrong usage (nothing was done), 3 partial (some scopes failed, a removal is held
or a record was rejected; everything else was written).`

export const ENQUEUE =
  prose(`Starts a run for the workers and prints its ID. If no worker is running, the run waits for one. It needs PostgreSQL and
the queue, but no credentials of the service. With --wait, it follows the run and returns the exit code that "run" would return. Ctrl-C then ends only the waiting.`)

export const ENQUEUE_AFTER = `
Examples:
  collab-sync enqueue
  collab-sync enqueue --organization acme --wait
  id=$(collab-sync enqueue) && collab-sync status "$id"`

export const HINT =
  prose(`Reports that comments of an annotation or document have changed. Continuous refresh fetches them next; if it is off, a
run is started for them. Several hints before the fetch starts cause one fetch. --add needs --annotation.`)

export const HINT_AFTER = `
Examples:
  collab-sync hint --organization acme --document plan --annotation ann-1
  collab-sync hint --organization acme --document plan --annotation ann-2 --add`

export const WORKER =
  prose(`Processes jobs until SIGTERM or SIGINT. It then takes no more jobs, finishes the calls in progress and exits with 0; a
second signal gives these calls up too. The process ends within 8 seconds. If a server does not respond by then, a worker
with work in progress exits with 1; PostgreSQL keeps the work. Any number of workers on any number of machines share the work.
Workers keep the nightly schedule registered. At its start, a worker waits up to a minute for PostgreSQL, Redis and the
tables. Logs are JSON lines on stderr.`)

export const SERVE =
  prose(`Serves pages for operators, the HTTP API under /v1, probes and metrics until SIGTERM or SIGINT. It then
completes the requests in progress and exits with 0, within 8 seconds. Without HTTP_TOKEN, it accepts requests from this
machine only. With HTTP_TOKEN, it accepts every request that carries the token, over plain HTTP: use a reverse proxy that
terminates TLS and forwards the Host header. If PostgreSQL or Redis is unreachable, the pages and probes report it. It needs no
credentials of the service. Logs are JSON lines on stderr.`)

export const SERVE_AFTER = `
Examples:
  collab-sync serve                                  http://127.0.0.1:8080, for this machine only
  HTTP_HOST=0.0.0.0 HTTP_TOKEN=... collab-sync serve

Paths: / for people, /v1 and /openapi.json for programs, /healthz and /readyz for probes, /metrics, /queues.`

export const SCHEDULE =
  prose(`The schedule of the nightly run. It applies to all workers and is stored in PostgreSQL once you set it here. Until then,
SYNC_CRON and SYNC_TZ apply.`)

export const SCHEDULE_SET_AFTER = `
Examples:
  collab-sync schedule set "0 2 * * *"
  collab-sync schedule set "30 1 * * 1-5" --tz Europe/Berlin`

export const STATUS =
  prose(`Shows recent runs, the age of the data and open problems. With a run: its state, progress and counts, why scopes failed
and whether they still fail, held removals and rejected records. With --failures: each failed scope of the run. If continuous
refresh is on: its budget and classes, and how soon changes were noticed on the last final days. Times are UTC.`)

export const SHOW =
  prose(`Shows everything that is stored about an organization, document, annotation, comment, user or user group: why it exists
or was removed, its last and next check, its events (newest first) and its contents. With --find, it lists matching runs and
things, with the command that shows each of them. Times are UTC.`)

export const SHOW_AFTER = `
In an edited comment, [-words-] were removed and {+words+} were added. --json contains each text in full, and the stored record
of a comment or user. Put -- before an ID that begins with -.

Examples:
  collab-sync show acme
  collab-sync show acme plan ann-1 42
  collab-sync show --user acme ann
  collab-sync show --group acme engineers
  collab-sync show --find ann@example.com`

export const CANCEL = prose(
  `Cancels a run. No further calls are made, data already written is kept, and the remaining scopes are skipped.`,
)

export const HISTORY =
  prose(`Lists the actions of users and programs, newest first: runs requested and cancelled, removals and imports accepted and
refused, changes of the catalog, the schedule and tokens, rejected records set aside, persons erased. Nightly runs, continuous
refresh and hints are not listed. "says:" marks a name that a program gave itself and that collab-sync cannot verify.`)

export const ACCEPT =
  prose(`Approves a held removal, by run, listing or organization: its users are removed now. They return if a later listing
contains them. A removal is held when a listing loses many users, at once or within seven days (SYNC_SHRINK_LIMIT), or may be
incomplete. The users stay until you approve it, or until HELD_ACCEPT_AFTER nightly runs have returned the same listing.
With --dry-run, it lists the missing users and removes none.

With --catalog NUMBER, approves a held catalog import: one that would deactivate more than ten scopes and more than 10 % of the
catalog or of one organization. These scopes become inactive now; the next import adds its new scopes. "collab-sync
catalog show" lists held imports.`)

export const REFUSE =
  prose(`Refuses a held removal, for which --reason is required. The users stay, and the removal is held again only when the listing changes. With --catalog
NUMBER, refuses a held catalog import: the catalog stays unchanged, and an import that lacks the same scopes is not held again.
"collab-sync catalog show" lists held imports.`)

export const VERIFY =
  prose(`Fetches random scopes, or the scope that the options name, and compares each record with the tables. It writes nothing.
A record that cannot be stored is a difference, unless it was set aside. Comments that the service changed after the last check,
and users whose removal is held or was refused, are listed but are not counted as differences. Use it while no run is in
progress: a run that writes at the same time can cause differences.`)

export const VERIFY_AFTER = `
Examples:
  collab-sync verify
  collab-sync verify --sample 2000
  collab-sync verify --organization acme --document plan

Exit codes: 0 no difference, 1 differences, 2 wrong usage, 3 no difference, but some scopes could not be fetched.`

export const REJECTED =
  prose(`Records that could not be stored. A run that rejects a whole record is partial (exit code 3), every night, until the
service corrects the record or you set it aside. Setting aside applies to the content of the record: a different record, or a new
version of it, is reported again.`)

export const DOCTOR =
  prose(`Checks settings, service, PostgreSQL, tables, queue, clocks and catalog, shows the open problems of status, and says how to
fix each problem. It changes nothing and makes one harmless call to the service (Get Users of one organization). A row "next"
names a first step that is not done yet, such as migrate or catalog import, and is no failure. Exit codes: 0 no check fails
(there may be warnings and next steps), 2 a check fails.

With --notify, it only sends a test message to each receiver of NOTIFY_URL and shows the responses. Exit codes: 0 all receivers
accepted it, 2 one did not, or a setting is wrong.`)

export const PSQL = prose(
  `Opens psql, the client program of PostgreSQL, on the database of the settings. An embedded PostgreSQL runs until psql ends.`,
)

export const PSQL_AFTER = `
Example:
  collab-sync psql -c "select * from reporting.comment_activity_daily order by day desc limit 5"`

export const DICTIONARY = prose(
  `Prints the tables, views, columns and functions of the database with their comments, types, keys and references: as Markdown, as JSON, or as a sources.yml with tests for dbt.`,
)

export const DEMO =
  prose(`Runs a complete example on this machine in under a minute: an embedded PostgreSQL, a stand-in for the service with generated
data, a catalog import, a run with live progress, changes at the service, a second run and a few reports. It ignores all settings
except COLLAB_SYNC_HOME, in which it uses a separate directory. psql, status, show and serve open it with --demo.`)

export const MIGRATE =
  prose(`Creates the tables and the schema of the queue, or upgrades them to this version. You can repeat it safely, and run it from
several machines at once. A migration that fails changes nothing.`)

export const CATALOG =
  prose(`The catalog lists what is synced. The service has no operation that lists its organizations, documents, annotations and
user groups, so you provide the list: in a file, or by a query of your own (CATALOG_SQL).`)

export const CATALOG_IMPORT =
  prose(`Loads a file into the catalog, completely or not at all. A wrong line is reported with its number. You can repeat an
import safely. Without --prune, it deactivates nothing. With --prune, it is held and changes nothing if it would deactivate more
than ten scopes and more than 10 % of the catalog or of one organization. It then
prints the commands that approve and refuse it.`)

export const CATALOG_IMPORT_AFTER = `
One JSON object per line (NDJSON), or CSV with the same names in its header. A line also adds its parents:
  {"organizationId":"acme","organizationName":"Acme, Inc."}
  {"organizationId":"acme","documentId":"plan","documentName":"Plan"}
  {"organizationId":"acme","documentId":"plan","annotationId":"ann-1"}
  {"organizationId":"acme","organizationUserGroupId":"engineers"}
Names (also organizationUserGroupName) are optional and never sent to the service; "" removes a name.

Examples:
  collab-sync catalog import catalog.ndjson
  export-my-catalog | collab-sync catalog import - --prune

Exit codes: 0 success, 1 failed, 2 wrong lines or usage, 3 the import is held. With 2 and 3, the catalog is unchanged.`

export const CATALOG_ADD = prose(
  `Adds an organization, document, annotation or user groups of one organization. You can repeat it safely.`,
)

export const CATALOG_ADD_AFTER = `
Examples:
  collab-sync catalog add --organization acme --document plan
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
