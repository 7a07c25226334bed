/** The caller whose operation a command is about, from `--tenant` and `--subject`. */
import { DEFAULT_TENANT } from '../../mcp-server/auth/default-tenant.js';
import { usageFailure } from './failures.js';

interface PrincipalFlags {
  tenant?: string;
  subject?: string;
}

/** @throws CommandFailure for names that no principal can have */
export async function principalOfFlags({ tenant, subject }: PrincipalFlags): Promise<string> {
  const [{ identitySchema, principalOf }, { ANONYMOUS }] = await Promise.all([
    import('../../operations/principal.js'),
    import('../../operations/wire/index.js'),
  ]);
  if (subject === undefined && tenant === undefined) return ANONYMOUS;
  const identity = identitySchema.safeParse({ tenant: tenant ?? DEFAULT_TENANT, subject });
  if (identity.success) return principalOf(identity.data);
  const { path, message } = identity.error.issues[0]!;
  throw usageFailure(`--${path.join('.')}: ${message}`);
}
