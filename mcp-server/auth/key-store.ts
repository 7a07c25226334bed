/** API keys: a folder with one file per key, read at each use, so adding or revoking a key needs no restart. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createFileOnce, readIfThere, writeFileAtomically } from '../../platform/home/atomic-files.js';
import { SettingsError } from '../../platform/settings/index.js';
import { groupName, identityShape } from '../../operations/principal.js';

/** `lh_`, the ID and the secret. The prefix lets scanners for leaked secrets recognize a key. */
const KEY = /^lh_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;
const ID = /^[0-9a-f]{12}$/;
const SECRET_BYTES = 32;

const apiKeySchema = z.strictObject({
  id: z.string().regex(ID),
  /** SHA-256 of the secret, base64url. The secret is random, so it needs no slower hash. */
  secretHash: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  ...identityShape,
  groups: z.array(groupName).optional(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().optional(),
  revokedAt: z.iso.datetime().optional(),
});

/** A key without its secret. Times are ISO 8601, UTC. */
export type ApiKey = z.infer<typeof apiKeySchema>;

export type NewApiKey = Pick<ApiKey, 'tenant' | 'subject' | 'groups' | 'expiresAt'>;

/** Makes a key. @returns the key as callers send it, which is stored nowhere, and its entry */
export function addApiKey(
  folder: string,
  { tenant, subject, groups = [], expiresAt }: NewApiKey,
): [string, ApiKey] {
  const id = randomBytes(6).toString('hex');
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  const entry: ApiKey = {
    id,
    secretHash: hashOf(secret).toString('base64url'),
    tenant,
    subject,
    ...(groups.length === 0 ? {} : { groups }),
    createdAt: new Date().toISOString(),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  createFileOnce(pathOf(folder, id), JSON.stringify(entry, undefined, 2));
  return [`lh_${id}_${secret}`, entry];
}

/** All keys, including revoked and expired ones, oldest first. @throws SettingsError for an invalid key file */
export function listApiKeys(folder: string): ApiKey[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => readApiKey(folder, name.slice(0, -'.json'.length)))
    .filter((key) => key !== undefined)
    .sort((one, other) => one.createdAt.localeCompare(other.createdAt));
}

/** Revokes a key, but keeps its file as a record; undefined for an unknown ID. @throws SettingsError for an invalid key file */
export function revokeApiKey(folder: string, id: string): ApiKey | undefined {
  const key = readApiKey(folder, id);
  if (!key) return undefined;
  const revoked = { ...key, revokedAt: key.revokedAt ?? new Date().toISOString() };
  writeFileAtomically(pathOf(folder, id), JSON.stringify(revoked, undefined, 2), 0o600);
  return revoked;
}

/**
 * The entry of a caller's key; undefined if it is unknown or its secret is wrong. Check {@link isUsable} too.
 *
 * @throws SettingsError for an invalid key file
 */
export function findApiKey(folder: string, text: string): ApiKey | undefined {
  const [, id, secret] = KEY.exec(text) ?? [];
  if (id === undefined) return undefined;
  const key = readApiKey(folder, id);
  const isEqual =
    key !== undefined && timingSafeEqual(hashOf(secret!), Buffer.from(key.secretHash, 'base64url'));
  return isEqual ? key : undefined;
}

export function isUsable({ expiresAt, revokedAt }: ApiKey, nowMs = Date.now()): boolean {
  return revokedAt === undefined && (expiresAt === undefined || nowMs < Date.parse(expiresAt));
}

/** The entry with an ID; undefined if there is none. @throws SettingsError for an invalid key file */
export function readApiKey(folder: string, id: string): ApiKey | undefined {
  if (!ID.test(id)) return undefined;
  const path = pathOf(folder, id);
  const text = readIfThere(path)?.toString();
  if (text === undefined) return undefined;
  try {
    const key = apiKeySchema.parse(JSON.parse(text));
    if (key.id !== id) throw new Error(`id: expected "${id}", as in its name; got "${key.id}"`);
    return key;
  } catch (error) {
    const why =
      error instanceof z.ZodError
        ? error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
        : (error as Error).message;
    throw new SettingsError(`${path}: expected a key made by longhaul keys add; ${why}`, { cause: error });
  }
}

function pathOf(folder: string, id: string): string {
  return join(folder, `${id}.json`);
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
