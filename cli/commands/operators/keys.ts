import type { Command } from 'commander';
import {
  addApiKey,
  isUsable,
  listApiKeys,
  revokeApiKey,
  type ApiKey,
} from '../../../mcp-server/auth/key-store.js';
import { DEFAULT_TENANT } from '../../../mcp-server/auth/default-tenant.js';
import { groupName } from '../../../operations/principal.js';
import { addJsonFlag, printOutput, runReporting } from '../../client/command.js';
import { usageFailure } from '../../client/failures.js';
import { identityFrom } from '../../client/principal-flags.js';
import { CommandFailure } from '../../failure.js';
import { settingsOf } from '../../settings-flags.js';
import { textTable } from '../../terminal/table.js';

const HELP = `
A server that was started with --authentication keys answers only callers with a key, each with what is theirs: callers whose
keys have the same tenant and subject see the same operations. Keys take effect, and end, within a second.
`;

const DAY_MS = 24 * 3600_000;

/** `longhaul keys`, `longhaul keys add SUBJECT` and `longhaul keys revoke ID`. They use the folder of the keys. */
export function define(keys: Command): void {
  addJsonFlag(keys).addHelpText('after', HELP);
  runReporting(keys, async () => {
    const all = listApiKeys(await folderOf(keys));
    printOutput(keys, { keys: all.map(withoutHash) }, () => tableOf(all));
  });
  const add = addJsonFlag(keys.command('add'))
    .description('make a key, and print it: it is kept nowhere')
    .argument('<subject>', 'the person or program that it stands for')
    .option('--tenant <name>', 'whose people do not see those of others', DEFAULT_TENANT)
    .option(
      '--group <name>',
      'a group that it belongs to; repeated, or several with commas',
      (names: string, before: string[] = []) => [...before, ...names.split(',')],
    )
    .option('--days <number>', 'how long it is valid (default: until it is revoked)');
  runReporting(add, async (subject: string) => {
    const { tenant, group, days } = add.opts<{ tenant: string; group?: string[]; days?: string }>();
    const identity = identityFrom({ tenant, subject });
    const groups = [...new Set(group)];
    for (const name of groups) {
      const { error } = groupName.safeParse(name);
      if (error) throw usageFailure(`--group: ${error.issues[0]!.message}; got ${JSON.stringify(name)}`);
    }
    const folder = await folderOf(add);
    const [key, entry] = addApiKey(folder, { ...identity, groups, expiresAt: expiryOf(days) });
    printOutput(add, { key, ...withoutHash(entry) }, () => key);
  });
  const revoke = addJsonFlag(keys.command('revoke'))
    .description('end a key, with the streams and waits of its callers')
    .argument('<id>', 'its ID, which longhaul keys lists');
  runReporting(revoke, async (id: string) => {
    const key = revokeApiKey(await folderOf(revoke), id);
    if (!key) throw new CommandFailure(`unknown key ${JSON.stringify(id)}; longhaul keys lists them`);
    printOutput(revoke, withoutHash(key), () => `Revoked ${id}, of ${key.subject} in ${key.tenant}.`);
  });
}

async function folderOf(command: Command): Promise<string> {
  return (await settingsOf(command)).keysFolder;
}

/** @throws CommandFailure for anything but a number of days greater than 0 */
function expiryOf(days: string | undefined): string | undefined {
  if (days === undefined) return undefined;
  const end = new Date(Date.now() + Number(days) * DAY_MS);
  if (!(Number(days) > 0) || Number.isNaN(end.getTime()))
    throw usageFailure(`--days: expected a number of days greater than 0; got ${JSON.stringify(days)}`);
  return end.toISOString();
}

function withoutHash({ secretHash: _secretHash, ...key }: ApiKey): object {
  return key;
}

function tableOf(keys: ApiKey[]): string {
  if (keys.length === 0) return 'No keys. longhaul keys add SUBJECT makes one.';
  return textTable([
    ['ID', 'TENANT', 'SUBJECT', 'GROUPS', 'CREATED', 'STATE'],
    ...keys.map((key) => {
      const { id, tenant, subject, groups = [], createdAt } = key;
      return [id, tenant, subject, groups.join(','), createdAt, stateOf(key)];
    }),
  ]);
}

function stateOf(key: ApiKey): string {
  if (key.revokedAt) return `revoked ${key.revokedAt}`;
  if (!isUsable(key)) return `expired ${key.expiresAt}`;
  return key.expiresAt ? `until ${key.expiresAt}` : 'valid';
}
