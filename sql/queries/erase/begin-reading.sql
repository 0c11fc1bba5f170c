-- Removes time limits for this transaction: reading all data may take longer than any other statement. For one
-- organization it also makes PostgreSQL use indexes: it assumes that the rows of an organization are on all pages of a table.
-- Params: $1 isOneOrganization.
select set_config('statement_timeout', '0', true) as time_limit,
  set_config('enable_seqscan', case when $1 then 'off' else current_setting('enable_seqscan') end, true) as scans
