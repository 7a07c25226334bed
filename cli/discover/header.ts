/** The comment at the beginning of a draft: what it is based on. */
import type { RunInfo } from '../../engine/list/current-runs.js';
import type { Observed } from './observed.js';
import { statusCounts } from './runs.js';

/** Where drafts come from. */
export interface Source {
  namespace: string;
  /** The namespace, if it isn't the one that Longhaul is connected to. */
  otherNamespace?: string;
  /** ISO 8601. */
  since: string;
  now: Date;
  /** Whether older runs were left out. */
  isLimited: boolean;
}

export function headerOf(
  name: string,
  { type, infos, observed }: { type: string; infos: RunInfo[]; observed: Observed },
  { namespace, since, now, isLimited }: Source,
): string[] {
  const counts = Object.entries(statusCounts(infos)).map(([status, count]) => `${count} ${status}`);
  const children = infos.filter(({ parentExecution }) => parentExecution?.workflowId).length;
  return [
    `Draft of the tool ${name}, made on ${day(now)} by longhaul discover from runs of the workflow type ${type}.`,
    `Runs in the namespace ${namespace} since ${day(new Date(since))}${isLimited ? ', the latest alone' : ''}: ${counts.join(', ')}; ` +
      `histories read: ${observed.histories}.`,
    ...(children > 0 ? [`Child workflows of others among them: ${children}.`] : []),
    'It has names and types of these runs, and none of their values. Look at the description, the names of arguments, what is ' +
      'required, and the time-out; add descriptions to inputs. Then: longhaul check',
  ];
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Text for a comment. Replaces line breaks in foreign names, which would end the comment. */
export function commentText(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g, ' ');
}
