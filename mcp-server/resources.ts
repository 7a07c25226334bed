/** Large results and artifacts as MCP resources, under `longhaul://operations/{token}/...`. */
import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from '@modelcontextprotocol/server';
import type { Engine } from '../engine/index.js';
import { LonghaulError } from '../operations/errors.js';

/** Largest resource that is sent in one answer, in bytes. A client's buffer over stdio holds 10 MB, in base64. */
export const RESOURCE_LIMIT_BYTES = { http: 64 * 1024 * 1024, stdio: 7 * 1024 * 1024 };

/**
 * Reads `longhaul://operations/{token}/result` or `.../artifacts/{name}`.
 *
 * @throws ProtocolError -32602 for what isn't there, or isn't this principal's
 */
export async function readResource(
  engine: Engine,
  principal: string,
  uri: string,
  limitBytes: number,
): Promise<ReadResourceResult> {
  const [, token, kind, name] =
    /^longhaul:\/\/operations\/([^/]+)\/(result|artifacts)(?:\/([^/]+))?$/.exec(uri) ?? [];
  const missing = () => new ProtocolError(ProtocolErrorCode.InvalidParams, 'Resource not found', { uri });
  if (!token || (kind === 'artifacts') !== Boolean(name)) throw missing();
  try {
    const record = await engine.read(principal, decodeURIComponent(token));
    if (kind === 'result') {
      if (record.status !== 'completed') throw missing();
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(record.result) }] };
    }
    const bytes = await engine.readArtifact(
      principal,
      decodeURIComponent(token),
      decodeURIComponent(name!),
      limitBytes,
    );
    return { contents: [{ uri, mimeType: 'application/octet-stream', blob: bytes.toString('base64') }] };
  } catch (error) {
    if (error instanceof LonghaulError && error.kind === 'not_found') throw missing();
    if (error instanceof LonghaulError)
      throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
    throw error;
  }
}
