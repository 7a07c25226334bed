/**
 * Tokens that a model pays for the shipped tools: lists, calls, polls, and work of an hour. Fails over its bounds.
 *
 *     node --import jiti/register bench/tokens.ts
 */
import { resolve } from 'node:path';
import { measureModelTokens, type ModelTokens } from '../test/support/model-tokens.js';
import { FIXTURES } from '../test/support/test-stack.js';
import { report, withStack } from './support.js';

const ROWS: [name: keyof ModelTokens, what: string, bound?: number][] = [
  ['listPlain', 'tools/list, plain client', 4_500],
  ['listTasks', 'tools/list, client with tasks'],
  ['instructions', "the server's instructions"],
  ['description', 'longest description of a tool'],
  ['start', 'answer to a start', 120],
  ['poll', 'answer to a poll, nothing new', 60],
  ['pollWithProgress', 'answer to a poll with progress'],
  ['polls', 'polls of work of an hour'],
  ['hourPlain', 'work of an hour, plain client', 2_000],
  ['hourTasks', 'work of an hour, client with tasks', 300],
];

const environment = {
  LONGHAUL_PROJECT: FIXTURES,
  LONGHAUL_PIPELINE_FOLDERS: resolve('examples/pipelines'),
};
await withStack(async ({ client }) => {
  const tokens = await measureModelTokens(client);
  const rows = ROWS.map(([name, what, bound]) => [
    what,
    String(tokens[name]),
    bound === undefined ? '' : `${tokens[name] < bound ? 'under' : 'OVER'} ${bound}`,
  ]);
  if (ROWS.some(([name, , bound]) => bound !== undefined && tokens[name] >= bound)) process.exitCode = 1;
  report('tokens', ['', 'tokens', 'bound'], rows, { tokens });
}, environment);
