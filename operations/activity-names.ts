/** Names of activities for people. Names of Longhaul's own activities are internal: people know jobs and steps. */

/** Longhaul's own activities by type; takes the activity's summary, which has the names of job and step. */
const BUILTIN_NAMES: Readonly<Record<string, (summary: string | undefined) => string>> = {
  runPipelineStep: (summary) =>
    summary === undefined ? 'a step' : `job ${summary.replace(' / ', ' / step ')}`,
  openPipelineWorkspace: (summary) => `the workspace of ${jobIn(summary)}`,
  awaitPipelineHost: (summary) => summary ?? 'a host',
  savePipelineArtifacts: (summary) => `saving the artifacts of ${jobIn(summary)}`,
  longhaul_request_cancel: () => 'the cancel request',
};

/** Types of Longhaul's own activities. */
export const BUILTIN_ACTIVITY_TYPES: readonly string[] = Object.keys(BUILTIN_NAMES);

/** Is it one of Longhaul's own, whose name people don't know? */
export function isBuiltinActivity(type: string): boolean {
  return Object.hasOwn(BUILTIN_NAMES, type);
}

/**
 * Name of an activity in messages: `job build / step Test` for a step of a pipeline; the author's own name for an activity
 * of a tool.
 *
 * @param summary of the activity, as Temporal keeps it (`build / Test`); undefined when it is not known
 */
export function activityName(type: string, summary: string | undefined): string {
  return BUILTIN_NAMES[type]?.(summary) ?? type;
}

/**
 * The message of an activity's failure without internal names: Temporal's workers list all activities that they know when
 * one is missing.
 */
export function activityFailureMessage(type: string, message: string): string {
  return isBuiltinActivity(type) && message.includes(type)
    ? 'the worker that took it is of another version of Longhaul'
    : message;
}

/** `build: workspace` -> `job build`. */
function jobIn(summary: string | undefined): string {
  return summary === undefined ? 'a job' : `job ${summary.replace(/: [^:]*$/, '')}`;
}
