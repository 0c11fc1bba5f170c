/** The prose of `--help`, one constant a command; what comes after the options ends in `_AFTER`. */

export const PROGRAM =
  prose(`Keeps the comments and users of a collaboration backend in PostgreSQL, every night and on demand.

Settings come from the environment or a file .env in the working directory (docs/SETTINGS.md lists them). Without DATABASE_URL an
embedded PostgreSQL is kept in .collab-sync/, which migrate creates; without REDIS_URL the queue is kept in PostgreSQL.`)

export const PROGRAM_AFTER = `
First steps:
  collab-sync demo                        see the whole job, nothing to set up
  collab-sync doctor                      is everything there?
  collab-sync migrate
  collab-sync catalog import catalog.ndjson
  collab-sync run                         sync once, now
  collab-sync worker                      stay, and sync every night
  collab-sync serve                       see it all in a browser

Exit codes:
  0 all done    1 the run failed    2 wrong usage or settings, nothing was done
  3 done in part: some scopes failed or are held, everything else is in
  4 done, but the output could not be written`

export const RUN =
  prose(`Asks for a run, works it off in this process too, waits for its end and prints its summary. It needs no other worker,
so it fits a cron job. Without options everything in the catalog is synced. Ctrl-C cancels the run; what is stored stays.`)

export const RUN_AFTER = `
Examples:
  collab-sync run
  collab-sync run --organization acme --operations comments
  collab-sync run --organization acme --document plan --annotation ann-1 --comment 42
  collab-sync run --organization acme --user ann --user bob
  collab-sync run --failed-of 3f2a9c1e
  collab-sync run --organization acme --failing
  collab-sync run --organization acme --dry-run

With --dry-run every scope is asked for and every answer judged as in a run, and nothing is kept of it: it prints a line
for each scope that would change, then the totals.

Exit codes: 0 all done, 1 failed or cancelled, 2 wrong use (nothing was done), 3 done in part.`

export const ENQUEUE =
  prose(`Asks the workers for a run and prints its id. It needs no credentials of the service, only PostgreSQL and the queue.
With --wait it follows the run and ends with the exit code that "run" would; Ctrl-C then leaves the run alone.`)

export const ENQUEUE_AFTER = `
Examples:
  collab-sync enqueue
  collab-sync enqueue --organization acme --wait
  id=$(collab-sync enqueue) && collab-sync status "$id"`

export const HINT =
  prose(`Says that comments of an annotation, or of any annotation of a document, changed: they are looked at next, by continuous
refresh, or without it by a run of just them. However often it is said before that look begins, it is one look.`)

export const HINT_AFTER = `
Examples:
  collab-sync hint --organization acme --document plan --annotation ann-1
  collab-sync hint --organization acme --document plan --annotation ann-2 --add`

export const WORKER =
  prose(`Processes jobs until SIGTERM or SIGINT. It then takes no more jobs, finishes the calls in progress and exits with 0; a
second signal gives these calls up too. The process ends within 8 seconds. If a server does not respond by then, a worker
with work in progress exits with 1; PostgreSQL keeps the work. Any number of workers on any number of machines share the work. Workers keep the nightly
schedule registered. PostgreSQL, Redis and the tables are waited for, up to a minute. Logs are JSON lines on stderr.`)

export const SERVE =
  prose(`Serves pages for operators, the HTTP API under /v1, probes and metrics until SIGTERM or SIGINT. It then
answers the requests in progress and exits with 0, within 8 seconds. Without HTTP_TOKEN it serves this machine alone; with it everybody who shows the token, over
HTTP: put something before it that speaks TLS and passes Host on. PostgreSQL and Redis may be away; it says so meanwhile.
It needs no credentials of the service. Logs are JSON lines on stderr.`)

export const SERVE_AFTER = `
Examples:
  collab-sync serve                                  http://127.0.0.1:8080, for this machine alone
  HTTP_HOST=0.0.0.0 HTTP_TOKEN=... collab-sync serve

Paths: / for people, /v1 and /openapi.json for programs, /healthz and /readyz for the platform, /metrics, /queues.`

export const SCHEDULE =
  prose(`The nightly run: every worker sees to it that it is registered. It holds for all workers together, so it is kept in
PostgreSQL once it is set here; until then SYNC_CRON and SYNC_TZ say when.`)

export const SCHEDULE_SET_AFTER = `
Examples:
  collab-sync schedule set "0 2 * * *"
  collab-sync schedule set "30 1 * * 1-5" --tz Europe/Berlin`

export const STATUS =
  prose(`Shows recent runs, how fresh the data is and what needs a person; or, for one run, its state, progress and counts, why
scopes failed and what became of them since, what is held and what was rejected; with --failures, each scope that failed in
it. Where refresh is on: its budget and classes, and how long changes took to be seen on the last days that are final. Times
are UTC.`)

export const SHOW =
  prose(`Shows all that is stored of an organization, document, annotation, comment, user or user group: why it is here or gone,
when it was last checked and when it is checked next, its events (the newest first) and what it holds. With --find it lists
runs and things instead, with the command that shows each. Times are UTC.`)

export const SHOW_AFTER = `
In an edited comment [-words-] were removed and {+words+} were added. --json has each text in full, and the record of a
comment or user as stored. An id that begins with - comes behind --.

Examples:
  collab-sync show acme
  collab-sync show acme plan ann-1 42
  collab-sync show --user acme ann
  collab-sync show --group acme engineers
  collab-sync show --find ann@example.com`

export const CANCEL = prose(
  `Ends a run early: no further call is made for it, what is stored stays, what was not asked is skipped.`,
)

export const HISTORY =
  prose(`Shows what users and programs did, the newest first: runs requested and cancelled, removals and imports accepted and
refused, changes of the catalog, of the schedule and of tokens, records set aside, persons erased. Nightly runs, continuous
refresh and hints are not listed. A name behind "says:" is what a program calls itself, which nothing proves.`)

export const ACCEPT =
  prose(`A listing that suddenly lacks many of its users is held: nobody is removed until a person accepts it here, by run, listing
or organization (or the same answer has come in as many nightly runs as HELD_ACCEPT_AFTER says). See what a run held with: collab-sync status RUN. An import of the catalog that
lacks more than a tenth of it, or of an organization, and more than ten scopes, is held too: with --catalog and its number what it lacks
becomes inactive now.`)

export const REFUSE =
  prose(`The users whom a held listing lacks stay, and the same answer is not held again, until it is another. With --catalog
the import of the catalog that is held stays without effect, and one that lacks just the same is not asked again.
See it with: collab-sync catalog show.`)

export const VERIFY =
  prose(`Asks the service again for random scopes, or for the scope that the options name, and compares record by record with
the tables. It writes nothing. A record that cannot be stored is a difference, unless it was set aside. A comment that the service changed after the last
check, and a user whose removal is held or was refused, are listed but not counted as differences. Best while no run is in progress:
what it writes meanwhile may show as a difference.`)

export const VERIFY_AFTER = `
Examples:
  collab-sync verify
  collab-sync verify --sample 2000
  collab-sync verify --organization acme --document plan

Exit codes: 0 no difference, 1 something differs, 2 wrong use, 3 no difference, but some scopes gave no answer.`

export const REJECTED =
  prose(`Records that could not be stored. A run in which a whole record was rejected is partial (exit code 3), every night,
until the record is mended at the service, or a person sets it aside: by its content, so that another record, or the same
one changed, is reported again.`)

export const DOCTOR =
  prose(`Looks at settings, service, PostgreSQL, tables, queue, clocks, catalog and schedule, and says of each what is wrong and
what mends it. It changes nothing and makes one harmless call to the service (Get Users of one organization).
Exit code 0 where nothing fails, 2 where a setting is wrong, else 1.`)

export const PSQL = prose(
  `Opens psql, PostgreSQL's own client, on the database that the settings name; an embedded PostgreSQL is up for as long.`,
)

export const PSQL_AFTER = `
Example:
  collab-sync psql -c "select * from reporting.comment_activity_daily order by day desc limit 5"`

export const DICTIONARY = prose(
  `Prints what the database itself says of its tables, views, columns and functions: their comments, types, keys and references. As a page for people, as JSON for tools, or as a sources.yml with tests for dbt.`,
)

export const DEMO =
  prose(`The whole job on this machine alone, in under a minute: an embedded PostgreSQL, a stand-in for the service with a
generated world, a catalog import, a run with live progress, changes at the service, a second run, and a few reports.
It looks at none of your settings but COLLAB_SYNC_HOME, in which it has a home of its own: psql, status and serve open that
with --demo.`)

export const MIGRATE =
  prose(`Creates the tables, or upgrades them to this version, and the queue's own schema. Safe to repeat, and to run from several
machines at once. All or nothing: a migration that fails changes nothing.`)

export const CATALOG =
  prose(`What there is to sync. The service cannot list its organizations, documents, annotations and user groups, so PostgreSQL
holds the list; it comes from a file, or from a query of your own (CATALOG_SQL).`)

export const CATALOG_IMPORT = prose(
  `Loads a file into the catalog, all of it or nothing: a wrong line is reported with its number. Importing again is harmless.`,
)

export const CATALOG_IMPORT_AFTER = `
One object a line (NDJSON), or CSV with the same names in its header; a line implies its parents:
  {"organizationId":"acme","organizationName":"Acme, Inc."}
  {"organizationId":"acme","documentId":"plan","documentName":"Plan"}
  {"organizationId":"acme","documentId":"plan","annotationId":"ann-1"}
  {"organizationId":"acme","organizationUserGroupId":"engineers"}
Names (also organizationUserGroupName) are optional and never sent to the service; "" removes a name.

Examples:
  collab-sync catalog import catalog.ndjson
  export-my-catalog | collab-sync catalog import - --prune`

export const CATALOG_ADD = prose(
  `Adds one thing to sync, or several of one organization, in place of a file. Again is harmless.`,
)

export const CATALOG_ADD_AFTER = `
Examples:
  collab-sync catalog add --organization acme --document plan
  collab-sync catalog add --organization acme --document plan --annotation ann-1 --add`

export const CATALOG_REMOVE =
  prose(`Makes an organization, document, annotation or user group, and what is beneath it, inactive: it is not asked for any more,
and its rows stay. An import that lists it makes it active again.`)

export const CATALOG_SHOW = prose(
  `Counts the organizations, documents, annotations and user groups of the catalog; or says of one of them whether it is active.`,
)

export const CATALOG_LIST = prose(
  `Lists what the catalog holds directly beneath a document, else beneath an organization, else its organizations.`,
)

export const CATALOG_REFRESH = prose(
  `Loads the rows of CATALOG_SQL, a query of yours on CATALOG_DATABASE_URL, as a nightly run does at its start.`,
)

/** Paragraphs as commander wants them: it breaks the lines itself, to the width of the terminal. */
function prose(text: string): string {
  return text.replace(/(?<!\n)\n(?!\n)/g, ' ')
}
