export const EXPORT_FORMATS = ['csv', 'ndjson', 'parquet'] as const

export type ExportFormat = (typeof EXPORT_FORMATS)[number]
