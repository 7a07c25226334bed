/** Where a request comes from: protocol, transport and address. */
import type { Context } from 'hono';
import type { AuditEntry } from '../../platform/audit-log/index.js';
import { clientAddress } from '../../platform/http/client-address.js';

export type Origin = Pick<AuditEntry, 'protocol' | 'transport' | 'address'>;

export const STDIO: Origin = { protocol: 'mcp', transport: 'stdio' };

/** MCP revisions are dates. The header is the client's own text. */
const REVISION = /^\d{4}-\d\d-\d\d$/;

export function originOf(c: Context): Origin {
  const revision = c.req.header('mcp-protocol-version') ?? '';
  const isMcp = c.req.path === '/mcp';
  const address = clientAddress(c);
  return {
    protocol: isMcp ? `mcp${REVISION.test(revision) ? ` ${revision}` : ''}` : 'http-jobs',
    transport: 'http',
    // Empty once the connection has ended.
    ...(address === '' ? {} : { address }),
  };
}
