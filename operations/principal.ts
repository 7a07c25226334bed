/** Principals: the owner of an operation, as a tenant and a subject in it. */
import { z } from 'zod';
import { attempt } from './errors.js';

/** Maximum length of each part when percent-encoded: search attributes of SQL visibility hold 255 characters. */
const MAX_PART = 120;

const part = z
  .string()
  .min(1)
  .refine(
    // Lone surrogates can't be encoded.
    (text) => (attempt(() => encodeURIComponent(text))?.length ?? Infinity) <= MAX_PART,
    `expected well-formed Unicode of at most ${MAX_PART} characters when percent-encoded`,
  );

export const identityShape = {
  /** Company, team or installation. Its people can't see other tenants. */
  tenant: part,
  /** Person or program, unique in its tenant. */
  subject: part,
};

/** Name of a group. Lists separate groups by commas. */
export const groupName = z
  .string()
  .regex(
    /^[^\s,\p{C}](?:[^,\p{C}]{0,118}[^\s,\p{C}])?$/u,
    'expected 1 to 120 characters without commas, control characters, and blanks at the ends',
  );

export const identitySchema = z.object(identityShape);

export type Identity = z.infer<typeof identitySchema>;

/**
 * The principal of an identity, never shared with another identity or with callers without authentication. Case and Unicode form
 * count (RFC 7519, section 2, "StringOrURI").
 */
export function principalOf({ tenant, subject }: Identity): string {
  return `${encodeURIComponent(tenant)}/${encodeURIComponent(subject)}`;
}

/** Prefix shared by exactly the principals of one tenant. */
export function tenantPrefixOf(principal: string): string {
  return principal.slice(0, principal.indexOf('/') + 1);
}
