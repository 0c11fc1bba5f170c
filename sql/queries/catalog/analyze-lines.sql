-- Tells the planner how many lines there are, before the merge.
-- Params: none.
analyze import_lines;
