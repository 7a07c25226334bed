/** Callers by TLS client certificates, which the listener has verified (`--tls-client-ca`). */
import type { Socket } from 'node:net';
import { TLSSocket, type DetailedPeerCertificate, type PeerCertificate } from 'node:tls';
import { DEFAULT_TENANT } from './default-tenant.js';
import { identityOf, type Caller } from './caller.js';
import { CertificateRequired } from './challenge.js';

/**
 * A connection's caller: the certificate's CN is the principal's subject, its O the tenant, its OUs the groups. Without a CN, the
 * subject is the only URI (SPIFFE) or else the only e-mail address among the alternative names.
 *
 * @returns undefined without a verified certificate that is valid now. It may have expired since the handshake, or since the
 *   handshake of a resumed session
 * @throws CertificateRequired for a verified certificate that names nobody, or several
 */
export function certificateCallerOf(socket: Socket | undefined): Caller | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  // The listener takes the authorization back when its authorities change.
  const isValid = () => socket.authorized && periodProblem(periodOf(socket)) === undefined;
  return isValid() ? { ...identityIn(socket.getPeerCertificate()), isValid } : undefined;
}

/** When a certificate, and the chain that the client sent, are valid, in epoch milliseconds. */
interface Period {
  fromMs: number;
  untilMs: number;
}

const periods = new WeakMap<TLSSocket, Period>();

function periodOf(socket: TLSSocket): Period {
  const known = periods.get(socket);
  if (known) return known;
  const chain = new Set<PeerCertificate>();
  let next: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  for (; next?.valid_to !== undefined && !chain.has(next); next = next.issuerCertificate) chain.add(next);
  const period = {
    fromMs: Math.max(...[...chain].map(({ valid_from }) => Date.parse(valid_from))),
    untilMs: Math.min(...[...chain].map(({ valid_to }) => Date.parse(valid_to))),
  };
  periods.set(socket, period);
  return period;
}

function periodProblem({ fromMs, untilMs }: Period): string | undefined {
  const nowMs = Date.now();
  if (nowMs >= untilMs) return `got one that expired at ${new Date(untilMs).toISOString()}`;
  if (nowMs < fromMs) return `got one that is valid from ${new Date(fromMs).toISOString()} on`;
  return undefined;
}

/** Why a connection has no valid certificate; empty if it has one. */
export function certificateProblem(socket: Socket | undefined): string {
  if (!(socket instanceof TLSSocket)) return 'the connection has no TLS';
  const { authorizationError } = socket;
  if (Object.keys(socket.getPeerCertificate() ?? {}).length === 0) return 'got none';
  if (socket.authorized) return periodProblem(periodOf(socket)) ?? '';
  return `got one that isn't verified${authorizationError ? `: ${String(authorizationError)}` : ' any more; connect again'}`;
}

function identityIn({ subject, subjectaltname, fingerprint256 }: PeerCertificate): Omit<Caller, 'isValid'> {
  const { CN, O, OU = [] } = subject as Partial<Record<'CN' | 'O' | 'OU', string | string[]>>;
  const names = (subjectaltname ?? '').split(', ');
  const alternative = (kind: string) => {
    const found = names.filter((name) => name.startsWith(kind)).map((name) => name.slice(kind.length));
    return found.length === 1 ? found[0] : undefined;
  };
  const given = {
    tenant: O ?? DEFAULT_TENANT,
    subject: CN ?? alternative('URI:') ?? alternative('email:'),
  };
  const places = { tenant: 'O', subject: 'CN, or without one its only URI or e-mail address,' };
  const identity = identityOf(
    given,
    (part, why) => new CertificateRequired(`its ${places[part]} can't be used: ${why}`),
  );
  const credential = { kind: 'certificate', fingerprint: fingerprint256 } as const;
  return { ...identity, groups: [OU].flat(), scopes: [], credential };
}
