import type { Command } from 'commander';
import type { ApiKey } from '../../../mcp-server/auth/key-store.js';
import { isJson, withErrorReporting } from '../../client/command.js';
import { usageFailure } from '../../client/failures.js';
import { print, printJson } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { settingsOf } from '../../settings-flags.js';
import { DEFAULT_TENANT } from '../../../mcp-server/auth/default-tenant.js';

const HELP = `
A server that was started with --authentication keys answers only callers with a key, each with what is theirs: callers whose
keys have the same tenant and subject see the same operations. Keys take effect, and end, within a second.
`;

const DAY_MS = 24 * 3600_000;

/** `longhaul keys`, `longhaul keys add SUBJECT` and `longhaul keys revoke ID`. They use the folder of the keys. */
export function define(keys: Command): void {
  keys.option('--json', 'print JSON, for programs').addHelpText('after', HELP);
  keys.action(() =>
    withFolder(keys, async (folder) => {
      const { listApiKeys } = await import('../../../mcp-server/auth/key-store.js');
      const all = listApiKeys(folder);
      if (isJson(keys)) printJson({ keys: all.map(withoutHash) });
      else print(await tableOf(all));
    }),
  );
  const add = keys
    .command('add')
    .description('make a key, and print it: it is kept nowhere')
    .argument('<subject>', 'the person or program that it stands for')
    .option('--tenant <name>', 'whose people do not see those of others', DEFAULT_TENANT)
    .option(
      '--group <name>',
      'a group that it belongs to; repeated, or several with commas',
      (names: string, before: string[] = []) => [...before, ...names.split(',')],
    )
    .option('--days <number>', 'how long it is valid (default: until it is revoked)')
    .option('--json', 'print JSON, for programs');
  add.action((subject: string) =>
    withFolder(add, async (folder) => {
      const [{ addApiKey }, { groupName, identitySchema }] = await Promise.all([
        import('../../../mcp-server/auth/key-store.js'),
        import('../../../operations/principal.js'),
      ]);
      const { tenant, group, days } = add.opts<{ tenant: string; group?: string[]; days?: string }>();
      const identity = identitySchema.safeParse({ tenant, subject });
      if (!identity.success) {
        const { path, message } = identity.error.issues[0]!;
        throw usageFailure(
          `${path.join('.')}: ${message}; got ${JSON.stringify(path[0] === 'tenant' ? tenant : subject)}`,
        );
      }
      const groups = [...new Set(group)];
      for (const name of groups) {
        const { error } = groupName.safeParse(name);
        if (error) throw usageFailure(`--group: ${error.issues[0]!.message}; got ${JSON.stringify(name)}`);
      }
      const [key, entry] = addApiKey(folder, { ...identity.data, groups, expiresAt: expiryOf(days) });
      if (isJson(add)) printJson({ key, ...withoutHash(entry) });
      else print(key);
    }),
  );
  const revoke = keys
    .command('revoke')
    .description('end a key, with the streams and waits of its callers')
    .argument('<id>', 'its ID, which longhaul keys lists')
    .option('--json', 'print JSON, for programs');
  revoke.action((id: string) =>
    withFolder(revoke, async (folder) => {
      const { revokeApiKey } = await import('../../../mcp-server/auth/key-store.js');
      const key = revokeApiKey(folder, id);
      if (!key) throw new CommandFailure(`unknown key ${JSON.stringify(id)}; longhaul keys lists them`);
      if (isJson(revoke)) printJson(withoutHash(key));
      else print(`Revoked ${id}, of ${key.subject} in ${key.tenant}.`);
    }),
  );
}

function withFolder(command: Command, run: (folder: string) => Promise<void>): Promise<void> {
  return withErrorReporting(command, async () => {
    const { keysFolder } = await settingsOf(command);
    await run(keysFolder);
  });
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

async function tableOf(keys: ApiKey[]): Promise<string> {
  const [{ isUsable }, { textTable }] = await Promise.all([
    import('../../../mcp-server/auth/key-store.js'),
    import('../../terminal/table.js'),
  ]);
  if (keys.length === 0) return 'No keys. longhaul keys add SUBJECT makes one.';
  const stateOf = (key: ApiKey) =>
    key.revokedAt
      ? `revoked ${key.revokedAt}`
      : isUsable(key)
        ? key.expiresAt
          ? `until ${key.expiresAt}`
          : 'valid'
        : `expired ${key.expiresAt}`;
  return textTable([
    ['ID', 'TENANT', 'SUBJECT', 'GROUPS', 'CREATED', 'STATE'],
    ...keys.map((key) => [
      key.id,
      key.tenant,
      key.subject,
      (key.groups ?? []).join(','),
      key.createdAt,
      stateOf(key),
    ]),
  ]);
}
