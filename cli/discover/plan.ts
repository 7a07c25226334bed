/** Limits of `longhaul discover`, and the lines that announce its calls. */

/** Most pages of the list of runs, and runs in each. */
export const MAX_PAGES = 10;
export const PAGE_RUNS = 1_000;
/** Most workflow types, starting with the most runs. */
export const MAX_TYPES = 100;
/** Most pages of a history, and events in each. Of a longer history, reads the beginning and the last event. */
export const HISTORY_PAGES = 3;
export const PAGE_EVENTS = 500;
/** Most open runs of each type that are described, to find heartbeats. */
export const MAX_OPEN = 3;
/** Most parents of child workflows that are described. */
export const MAX_PARENTS = 20;

export interface Selection {
  /** ISO 8601. */
  since: string;
  types: string[];
  taskQueue?: string;
  /** Histories of each type. */
  runs: number;
  /** Whether to ask a worker of each type for its definitions. */
  asksWorkers: boolean;
}

export function planOf(namespace: string, address: string, selection: Selection): string[] {
  const { since, types, taskQueue, runs, asksWorkers } = selection;
  const filters = [
    `since ${since}`,
    ...(types.length > 0 ? [`of ${types.join(', ')}`] : []),
    ...(taskQueue === undefined ? [] : [`on the task queue ${taskQueue}`]),
  ].join(', ');
  const number = types.length > 0 ? `${Math.min(types.length, MAX_TYPES)}` : `at most ${MAX_TYPES}`;
  return [
    `Reads the namespace ${namespace} of Temporal at ${address}, and changes nothing:`,
    `  lists of runs:   at most ${MAX_PAGES} calls, ${PAGE_RUNS} runs each: those ${filters}`,
    `  histories:       of at most ${runs} runs of each workflow type (${number} types), at most ${HISTORY_PAGES + 1} calls each`,
    `  descriptions:    of at most ${MAX_OPEN} open runs of each type, and of at most ${MAX_PARENTS} parents of child workflows`,
    asksWorkers
      ? '  queries:         one to an open run of each type, for its definitions; Temporal bills it, and a worker answers it'
      : '  queries:         none; --query asks one open run of each type for its definitions',
    'Values in histories are read for their types. Drafts have names and types, never values.',
  ];
}
