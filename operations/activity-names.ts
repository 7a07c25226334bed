/** Display names of activities. Types of built-in activities are internal, so messages name jobs and steps instead. */

/** By activity type. The summary holds the names of job and step. */
const BUILTIN_NAMES: Readonly<Record<string, (summary: string | undefined) => string>> = {
  runPipelineStep: (summary) =>
    summary === undefined ? 'a step' : `job ${summary.replace(' / ', ' / step ')}`,
  openPipelineWorkspace: (summary) => `the workspace of ${jobIn(summary)}`,
  awaitPipelineHost: (summary) => summary ?? 'a host',
  readPipelinePage: () => 'reading the items that an earlier run had completed',
  savePipelineArtifacts: (summary) => `saving the artifacts of ${jobIn(summary)}`,
  longhaul_request_cancel: () => 'the cancel request',
  longhaul_ask_turn: () => 'the request for a turn',
  longhaul_return_turn: () => 'the return of the turn',
};

export const BUILTIN_ACTIVITY_TYPES: readonly string[] = Object.keys(BUILTIN_NAMES);

/** Whether an activity type ships with Longhaul, so users don't know its name. */
export function isBuiltinActivity(type: string): boolean {
  return Object.hasOwn(BUILTIN_NAMES, type);
}

/** Name in messages: `job build / step Test` for a pipeline step, or the type. @param summary `build / Test`; undefined if unknown */
export function activityName(type: string, summary: string | undefined): string {
  return BUILTIN_NAMES[type]?.(summary) ?? type;
}

/** Hides internal names: if an activity is missing, Temporal's workers list all registered ones. */
export function activityFailureMessage(type: string, message: string): string {
  return isBuiltinActivity(type) && message.includes(type)
    ? 'the worker that ran it has another version of Longhaul'
    : message;
}

/** `build: workspace` -> `job build`. */
function jobIn(summary: string | undefined): string {
  return summary === undefined ? 'a job' : `job ${summary.replace(/: [^:]*$/, '')}`;
}
