/** Lines of an audit log that match a filter. */
import { auditFilesIn } from './files.js';
import { parseLine, type AuditLine } from './line.js';
import { linesOf } from './read.js';

export interface AuditFilter {
  principal?: string | undefined;
  operation?: string | undefined;
  /** An event, or the beginning of its name: `operation`, `operation.start`. */
  event?: string | undefined;
  /** ISO 8601. */
  since?: string | undefined;
}

/**
 * Matching lines of all chains, the oldest first; lines of a chain in the order in which they were written, also where the clock
 * was set back. Doesn't verify them.
 *
 * @throws an error of the file system
 */
export async function selectAuditLines(folder: string, filter: AuditFilter): Promise<AuditLine[]> {
  const found: { line: AuditLine; latest: string }[] = [];
  for (const files of auditFilesIn(folder).chains.values()) {
    /** Time up to which the chain has come. */
    let latest = '';
    for (const { path } of files)
      for await (const { text } of linesOf(path)) {
        const line = parseLine(text)?.line;
        if (!line) continue;
        if (line.time > latest) latest = line.time;
        if (matches(line, filter)) found.push({ line, latest });
      }
  }
  return found.sort((one, other) => one.latest.localeCompare(other.latest)).map(({ line }) => line);
}

function matches(line: AuditLine, { principal, operation, event, since }: AuditFilter): boolean {
  return (
    (principal === undefined || line.principal === principal) &&
    (operation === undefined || isOf(line, operation)) &&
    (event === undefined || line.event === event || line.event.startsWith(`${event}.`)) &&
    (since === undefined || Date.parse(line.time) >= Date.parse(since))
  );
}

/** The workflow ID of an operation, by which others of the tenant name it, ends with its token. */
function isOf({ operation }: AuditLine, token: string): boolean {
  return operation === token || operation?.endsWith(`.${token}`) === true;
}
