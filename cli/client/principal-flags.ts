/** The caller whose operation a command is about, from `--tenant` and `--subject`. */
import type { Command } from 'commander';
import { DEFAULT_TENANT } from '../../mcp-server/auth/default-tenant.js';
import { identitySchema, principalOf, type Identity } from '../../operations/principal.js';
import { ANONYMOUS } from '../../operations/wire/index.js';
import { usageFailure } from './failures.js';

export interface PrincipalFlags {
  tenant?: string;
  subject?: string;
}

/** @param role of the caller, such as `who gets the token` */
export function addPrincipalFlags(command: Command, role: string): Command {
  return command
    .option('--tenant <name>', `tenant of the caller ${role} (default: ${DEFAULT_TENANT})`)
    .option('--subject <name>', 'that caller; without it, callers without authentication');
}

/** @throws CommandFailure for names that no principal can have */
export function principalOfFlags({ tenant, subject }: PrincipalFlags): string {
  if (subject === undefined && tenant === undefined) return ANONYMOUS;
  return principalOf(identityFrom({ tenant: tenant ?? DEFAULT_TENANT, subject }, '--'));
}

/** @param prefix of the names in problems @throws CommandFailure for names that no principal can have */
export function identityFrom(given: PrincipalFlags, prefix = ''): Identity {
  const parsed = identitySchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  const [name] = path as [keyof PrincipalFlags];
  throw usageFailure(`${prefix}${name}: ${message}; got ${JSON.stringify(given[name]) ?? 'nothing'}`);
}
