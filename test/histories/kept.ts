/**
 * The room of kept histories: `test/histories/TAG/WORKFLOW TYPE/END.json`, compressed where they are large. Histories of a released tag
 * are never written again.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { historyToJSON, type History } from '@temporalio/common/lib/proto-utils.js';

const ROOM = resolve('test/histories');
export const PROJECT = join(ROOM, 'project');
/** Size from which a file is compressed, in bytes. */
const COMPRESSED_BYTES = 32_000;

/** The tag that the next release gets. */
export const TAG = `v${(JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version}`;
export const isRecording = Boolean(process.env['LONGHAUL_RECORD']);

/** Paths of all kept histories, by name: `v0.1.0/pipeline/failed`. */
export function keptHistories(): Map<string, string> {
  const tags = readdirSync(ROOM).filter((name) => /^v\d/.test(name));
  const files = tags.flatMap((tag) =>
    readdirSync(join(ROOM, tag), { recursive: true, encoding: 'utf8' }).map((path) => join(tag, path)),
  );
  const histories = files.filter((path) => /\.json(\.gz)?$/.test(path)).sort();
  return new Map(histories.map((path) => [path.replace(/\.json(\.gz)?$/, ''), join(ROOM, path)]));
}

export function isKept(name: string): boolean {
  return keptHistories().has(`${TAG}/${name}`);
}

/** Keeps a history of the current tag, unless one of that name is there. */
export function keep(name: string, history: History): void {
  if (isKept(name)) return;
  const json = historyToJSON(history).replaceAll(`${resolve('.')}/`, '');
  const isLarge = json.length > COMPRESSED_BYTES;
  const path = join(ROOM, TAG, `${name}.json${isLarge ? '.gz' : ''}`);
  if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, isLarge ? gzipSync(json, { level: 9 }) : `${json}\n`, { flag: 'wx' });
}
