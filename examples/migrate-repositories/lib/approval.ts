import { count, type Row } from './states.js';

/** Content of an answer. */
export interface Approval {
  /** Names of repositories. */
  commit: string[];
}

/**
 * The question for all repositories that are ready: an answer takes all of them, which is the default, some, or none.
 *
 * @param all number of repositories of the call
 */
export function approvalOf(ready: readonly Row[], all: number, branch: string) {
  const names = ready.map(({ name }) => name);
  const schema = {
    type: 'object',
    properties: {
      commit: {
        type: 'array',
        title: 'Commit',
        description: `Repositories in which ${branch} is created.`,
        items: { type: 'string', enum: names },
        uniqueItems: true,
        default: names,
      },
    },
    required: ['commit'],
    additionalProperties: false,
  };
  const lines = ready.map(({ name, files, changes, left, note, diff }) => {
    const details = [
      `${count(changes!, 'change')} in ${count(files!, 'file')}`,
      left?.length ? `${count(left.length, 'place')} left to you` : '',
      note,
    ];
    return `- ${name}: ${details.filter(Boolean).join('; ')}. ${diff}`;
  });
  const message = `${ready.length} of ${count(all, 'repository').replace(/ys$/, 'ies')} pass their checks with the change. Create branch ${branch} in which?\n${lines.join('\n')}`;
  return { schema, message };
}
