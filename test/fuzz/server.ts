/** PostgreSQL for the fuzzer: a database of a server, by a role that may create others. */
export function serverUrl(): string {
  return process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres'
}
