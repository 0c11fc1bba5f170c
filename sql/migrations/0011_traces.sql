-- Up Migration
-- One run is one trace, also where its work is handed on by whoever finds it lying about, long after it was asked for.

alter table sync.runs add column traceparent text;
comment on column sync.runs.traceparent is 'The request''s place in its trace, in the form of W3C Trace Context; null where no traces are made. All work of the run belongs to that trace.';
