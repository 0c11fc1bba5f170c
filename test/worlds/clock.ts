import pg from 'pg'

/**
 * Puts a clock that a test moves in the place of PostgreSQL's, in one database and before its tables are made: what is named
 * now() then is the test's, in column defaults, views and functions too. What the program asks otherwise (clock_timestamp(),
 * for pauses and calls a second) stays real; `current_timestamp` and its like would stay real too, and are used nowhere. Its days
 * are those of UTC, so that a date in a question is the same on every server.
 * @param url of the database, by a superuser
 */
export async function openClock(url: string): Promise<Clock> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`
    set allow_system_table_mods = on;
    alter function pg_catalog.now() rename to real_now;
    create schema test_clock;
    create table test_clock.hand (shift interval not null, stopped_at timestamptz);
    insert into test_clock.hand values ('0', null);
    grant usage on schema test_clock to public;
    grant select on test_clock.hand to public;
    create function pg_catalog.now() returns timestamptz language sql stable parallel safe
      as 'select coalesce(stopped_at, pg_catalog.real_now() + shift) from test_clock.hand';
    do $$ begin
      execute format('alter database %I set timezone = utc', current_database());
      -- Tables that were never analyzed are taken for large ones, and their queries compiled: that takes longer than all of them.
      execute format('alter database %I set jit = off', current_database());
    end $$`)
  return new Clock(client)
}

/** The clock of one database. */
export class Clock {
  readonly #client: pg.Client

  constructor(client: pg.Client) {
    this.#client = client
  }

  /** Sets the current time; the clock runs. */
  async set(at: Date): Promise<void> {
    await this.#client.query(
      'update test_clock.hand set stopped_at = null, shift = $1 - pg_catalog.real_now()',
      [at],
    )
  }

  /** Stops the clock at this time until it is set again. */
  async stop(at: Date): Promise<void> {
    await this.#client.query('update test_clock.hand set stopped_at = $1', [at])
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}
