/** Reads from the server's HTTP jobs API, beside the MCP endpoint: artifacts and partial results of any size, documentation. */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { makeExecutable, temporaryPath } from '../../platform/home/atomic-files.js';
import { CommandFailure } from '../failure.js';
import { credentialHeaders, refusedCredential } from './credential.js';
import { Unreachable } from './connection.js';
import { EXIT } from './exit-codes.js';
import type { Session } from './session.js';

export interface ListedArtifact {
  name: string;
  content_type: string;
  bytes?: number;
  /** Set if its owner could execute it. */
  executable?: true;
  /** Path on the server. A resumed operation may have the earlier operation's path. */
  url: string;
}

export interface ListedArtifacts {
  artifacts: ListedArtifact[];
  /** Files of a pipeline's jobs that couldn't be saved, each with its path in the workspace, or the pattern. */
  unsaved?: { job: string; path: string; reason: string }[];
}

/** @throws CommandFailure for an unknown or expired operation, Unreachable */
export async function listArtifacts({ url }: Pick<Session, 'url'>, token: string): Promise<ListedArtifacts> {
  const response = await getJobsApi(url, `v1/jobs/${encodeURIComponent(token)}/artifacts`);
  return (await response.json()) as ListedArtifacts;
}

/** @throws CommandFailure for an unknown artifact, Unreachable */
export async function openArtifact(
  { url }: Pick<Session, 'url'>,
  token: string,
  name: string,
): Promise<Readable> {
  const path = `v1/jobs/${encodeURIComponent(token)}/artifacts/${encodeURIComponent(name)}`;
  const { body } = await getJobsApi(url, path);
  return Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
}

/** Reads an operation's partial result, if it has one. @throws CommandFailure for an expired operation, Unreachable */
export async function readPartial({ url }: Pick<Session, 'url'>, token: string): Promise<unknown> {
  const response = await request(url, `v1/jobs/${encodeURIComponent(token)}/partial`);
  if (response.status === 404) return undefined;
  return (await assertOk(response)).json();
}

/** Writes the file atomically. @throws Unreachable when the connection breaks; file system errors */
export async function saveTo(path: string, artifact: Readable, isExecutable = false): Promise<void> {
  const unfinished = temporaryPath(path);
  try {
    await pipeline(artifact, createWriteStream(unfinished));
    if (isExecutable) await makeExecutable(unfinished);
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** @param accept the type to ask for. Default: the server's @throws CommandFailure with the problem that the server names, Unreachable */
export async function getJobsApi(mcpUrl: URL, path: string, accept?: string): Promise<Response> {
  return assertOk(await request(mcpUrl, path, accept), accept);
}

function request(mcpUrl: URL, path: string, accept?: string): Promise<Response> {
  const headers = { ...credentialHeaders(), ...(accept === undefined ? {} : { accept }) };
  return fetch(new URL(path, mcpUrl.href.replace(/\/$/, '')), { headers }).catch((error: Error) => {
    const { cause = error } = error;
    throw new Unreachable((cause as Error).message);
  });
}

async function assertOk(response: Response, accept = ''): Promise<Response> {
  const type = response.headers.get('content-type') ?? 'nothing';
  if (response.ok && type.startsWith(accept)) return response;
  if (response.ok) throw new CommandFailure(`${response.url}: expected ${accept}; got ${type}`);
  const problem = (await response.json().catch(() => ({}))) as { detail?: string; title?: string };
  const refused = refusedCredential(response.status, problem.detail);
  if (refused) throw refused;
  const message = problem.detail ?? problem.title ?? `the server answered with HTTP ${response.status}`;
  throw new CommandFailure(message, exitCodeOf(response.status, type.startsWith('application/problem+json')));
}

/** @param isProblem whether Longhaul answered: any server has no such page */
function exitCodeOf(httpStatus: number, isProblem: boolean): number {
  if (isProblem && (httpStatus === 404 || httpStatus === 410)) return EXIT.notFound;
  return httpStatus === 503 ? EXIT.unreachable : EXIT.failed;
}
