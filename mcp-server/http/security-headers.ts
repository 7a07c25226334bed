/** Response headers that keep browsers from misusing what the server sends. A route's own headers take precedence. */
import type { MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';

/** How long browsers insist on HTTPS: a year. */
const HTTPS_ONLY_SECONDS = 31_536_000;

/** Paths with the same responses for all callers. */
const PUBLIC_PATHS = /^\/(docs|problems|\.well-known)(\/|$)/;

/** @param hasTls whether the server itself speaks HTTPS */
export function securityHeaders(hasTls: boolean): MiddlewareHandler {
  const secured = secureHeaders({
    contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    xFrameOptions: 'DENY',
    strictTransportSecurity: hasTls ? `max-age=${HTTPS_ONLY_SECONDS}` : false,
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    removePoweredBy: false,
    overwrite: false,
  });
  return async (c, next) => {
    await secured(c, next);
    const { headers } = c.res;
    if (!headers.has('Cache-Control') && !PUBLIC_PATHS.test(c.req.path))
      headers.set('Cache-Control', 'no-store');
  };
}
