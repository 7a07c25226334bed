/** `GET /v1/jobs/{id}/artifacts` and `/artifacts/{name}`: the files that a job wrote. */
import { z } from '@hono/zod-openapi';
import { artifactUri } from '../../operations/record.js';
import type { JobsContext } from './context.js';
import {
  artifactLinks,
  executableUris,
  linksIn,
  mimeTypeOf,
  parseResourceUri,
  resourceLink,
} from '../links/resource-links.js';
import { asProblem } from './rendering/problems.js';
import { BYTES_HEADERS, NOT_MODIFIED, PART_HEADERS, sendBytes } from './range.js';
import { rangeHeaders } from './result.js';
import { assertNotExpired, jobPath } from './rendering/render.js';
import { jobParams, json } from './rendering/schemas.js';
import { registerRoute } from './route.js';

const artifact = z
  .object({
    name: z.string(),
    content_type: z.string(),
    bytes: z.int().optional(),
    executable: z.literal(true).optional().describe('Set if its owner could execute it.'),
    url: z.string().describe('For a resumed job, it may be the URL of a file of an earlier job.'),
  })
  .openapi('Artifact');

const unsaved = z
  .object({
    job: z.string().describe('Name of the job in the pipeline.'),
    path: z.string().describe('Path in the workspace, or the pattern.'),
    reason: z.string(),
  })
  .openapi('UnsavedArtifact');

const content = { '*/*': { schema: z.string().openapi({ format: 'binary' }) } };

export function registerArtifacts(context: JobsContext): void {
  const { engineOf } = context;
  registerRoute(
    context,
    {
      method: 'get',
      path: '/v1/jobs/{id}/artifacts',
      operationId: 'listArtifacts',
      tag: 'Results',
      summary: 'List the files of a job',
      rate: 'status',
      params: jobParams,
      success: {
        200: json(
          z.object({
            artifacts: z.array(artifact),
            unsaved: z.array(unsaved).optional().describe('Files of a pipeline that could not be saved.'),
          }),
          'The files written so far.',
        ),
      },
      problems: ['job-not-found', 'job-expired'],
    },
    async (c, { params: { id } }) => {
      const engine = engineOf(c);
      const record = assertNotExpired(await engine.readLive(id));
      const { children = [] } = record;
      const links = [...linksIn(record.result), ...artifactLinks(record)];
      const executable = executableUris(record);
      const addresses = new Set(links.map(({ uri }) => uri));
      const others = (await engine.artifacts(id))
        .map(({ name, bytes }) => resourceLink(artifactUri(id, name), name, bytes))
        .filter(({ uri }) => !addresses.has(uri));
      const artifacts = [...links, ...others].map(({ uri, name, mimeType, size }) => ({
        name,
        content_type: mimeType,
        bytes: size,
        executable: executable.has(uri) || undefined,
        url: `${jobPath(parseResourceUri(uri)?.token ?? id)}/artifacts/${encodeURIComponent(name)}`,
      }));
      const left = children.flatMap(({ name: job, unsavedArtifacts = [] }) =>
        unsavedArtifacts.map((one) => ({ job, ...one })),
      );
      const body = { artifacts, unsaved: left.length > 0 ? left : undefined };
      return c.json(body, 200, { 'Cache-Control': 'no-cache' });
    },
  );
  registerRoute(
    context,
    {
      method: 'get',
      path: '/v1/jobs/{id}/artifacts/{name}',
      operationId: 'getArtifact',
      tag: 'Results',
      summary: 'Download a file of a job',
      rate: 'status',
      params: jobParams.extend({ name: z.string().openapi({ maxLength: 255 }) }),
      mayHaveSlashes: true,
      headers: rangeHeaders,
      success: {
        200: { description: 'The whole file.', headers: BYTES_HEADERS, content },
        206: { description: 'The requested range.', headers: PART_HEADERS, content },
        304: NOT_MODIFIED,
      },
      problems: ['job-not-found', 'job-expired', 'resource-not-found', 'range-not-satisfiable'],
    },
    async (c, { params: { id, name } }) => {
      const engine = engineOf(c);
      assertNotExpired(await engine.read(id));
      const file = await engine.artifact(id, name).catch((error: unknown) => {
        throw asProblem(error, 'not_found', 'resource-not-found');
      });
      return sendBytes(c, {
        sizeBytes: file.sizeBytes,
        etag: `"${file.version}"`,
        contentType: mimeTypeOf(name),
        stream: (range) => file.stream(range),
        headers: {
          // Browsers must not render a job's file as a page of this server's origin.
          'Content-Disposition': `attachment; filename*=UTF-8''${encodeName(name.split('/').at(-1)!)}`,
          'Content-Security-Policy': "default-src 'none'; sandbox",
        },
      });
    },
  );
}

/** Encodes a file name for a header (RFC 8187, section 3.2.1). */
function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
