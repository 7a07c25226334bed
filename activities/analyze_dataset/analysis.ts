/** Analysis of data files with DuckDB, independent of Temporal. */
export { estimateArtifact, writeParquet } from './artifact.js';
export type { Artifact, ArtifactEstimate } from './artifact.js';
export type { Reading } from './dataset.js';
export { DatasetError } from './errors.js';
export type { DatasetErrorCode } from './errors.js';
export { inspect } from './inspect.js';
export type { Inspection } from './inspect.js';
export { profileColumns, profileTable } from './profile.js';
export type { Progress } from './progress.js';
export { runQuery } from './query.js';
export type { QueryResult } from './query.js';
export type { DatasetOptions } from './session.js';
