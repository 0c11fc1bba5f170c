-- Updates the planner's statistics of the lines before the merge.
-- Params: none.
analyze import_lines;
