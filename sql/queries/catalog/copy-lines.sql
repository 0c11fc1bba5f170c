-- Copies the lines of an import in COPY's text format.
-- Params: none; the rows follow as COPY data.
copy import_lines (organization_id, document_id, annotation_id, organization_user_group_id, organization_name, document_name,
  organization_user_group_name) from stdin;
