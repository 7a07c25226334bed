/** Callers by their TLS client certificates, which the listener has verified (`--tls-client-ca`). */
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import type { Socket } from 'node:net';
import { TLSSocket, type PeerCertificate } from 'node:tls';
import { DEFAULT_TENANT } from '../../platform/default-tenant.js';
import { identitySchema, principalOf } from '../../platform/principal.js';
import type { Caller } from './caller.js';

/** A client certificate is needed, and the connection has none that counts. */
export class CertificateRequired extends OAuthError {
  override name = 'CertificateRequired';

  constructor(reason: string) {
    super(
      OAuthErrorCode.AccessDenied,
      `Expected a client certificate of an authority that this server trusts; ${reason}`,
    );
  }
}

/**
 * The caller of a connection: the subject's CN is the principal's subject, its O the tenant. Without a CN, the only URI (SPIFFE)
 * or else the only e-mail address among the alternative names is the subject. Its OUs are the groups.
 *
 * @returns undefined for a connection without a verified certificate
 * @throws CertificateRequired for a verified certificate that names nobody, or several
 */
export function certificateCallerOf(socket: Socket | undefined): Caller | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerCertificate();
  const expiresAtMs = Date.parse(certificate.valid_to);
  return {
    ...identityIn(certificate),
    // The listener takes the authorization back when its authorities change.
    isValid: () => socket.authorized && Date.now() < expiresAtMs,
  };
}

/** Why a connection has no certificate that counts. */
export function certificateProblem(socket: Socket | undefined): string {
  if (!(socket instanceof TLSSocket)) return 'the connection has no TLS';
  const { authorizationError } = socket;
  if (Object.keys(socket.getPeerCertificate() ?? {}).length === 0) return 'got none';
  return `got one that isn't verified${authorizationError ? `: ${String(authorizationError)}` : ' any more; connect again'}`;
}

function identityIn({ subject, subjectaltname, fingerprint256 }: PeerCertificate): Omit<Caller, 'isValid'> {
  const { CN, O, OU = [] } = subject as Partial<Record<'CN' | 'O' | 'OU', string | string[]>>;
  const names = (subjectaltname ?? '').split(', ');
  const alternative = (kind: string) => {
    const found = names.filter((name) => name.startsWith(kind)).map((name) => name.slice(kind.length));
    return found.length === 1 ? found[0] : undefined;
  };
  const identity = identitySchema.safeParse({
    tenant: O ?? DEFAULT_TENANT,
    subject: CN ?? alternative('URI:') ?? alternative('email:'),
  });
  if (identity.success)
    return {
      ...identity.data,
      principal: principalOf(identity.data),
      groups: [OU].flat(),
      scopes: [],
      credential: { kind: 'certificate', fingerprint: fingerprint256 },
    };
  const { path, message } = identity.error.issues[0]!;
  const name = path[0] === 'tenant' ? 'O' : 'CN, or without one its only URI or e-mail address,';
  throw new CertificateRequired(`its ${name} can't be used: ${message}`);
}
