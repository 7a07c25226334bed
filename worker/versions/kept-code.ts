/**
 * The project's workflow code as a worker ran it last, kept in the home's cache. A changed workflow that doesn't replay its
 * open operations runs with this code until they have ended, even after a restart.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryPath, writeFileAtomically } from '../../platform/home/atomic-files.js';
import type { Settings } from '../../platform/settings/index.js';
import { projectCacheFile } from '../../platform/project/index.js';

export interface CodeVersions {
  /** Exported name -> digest of the project's code that the export depends on. */
  exports: Record<string, string>;
  /** Exported name -> path of the project's file that exports it. Shipped workflows have none. */
  paths: Record<string, string>;
  /** Digest of the modules outside of the project: Longhaul's and those in packages. */
  runtimeDigest: string;
}

export interface SourceTexts {
  /** Digest of code -> paths of its files. */
  files: Record<string, string[]>;
  sources: Record<string, string>;
}

/** Copies lie in one folder per digest, under the files' absolute paths. */
const COPY = /\/kept-[0-9a-f]{16}\/[0-9a-f]{16}(\/.*)$/;

/** The original of a kept copy; other paths are returned unchanged. */
export function originalOf(path: string): string {
  return COPY.exec(path)?.[1] ?? path;
}

export class KeptCode {
  readonly #indexPath: string;
  readonly #folder: string;

  constructor(settings: Settings) {
    this.#indexPath = projectCacheFile(settings, 'kept');
    this.#folder = this.#indexPath.replace(/\.json$/, '');
  }

  read(): CodeVersions | undefined {
    if (!existsSync(this.#indexPath)) return undefined;
    return JSON.parse(readFileSync(this.#indexPath, 'utf8')) as CodeVersions;
  }

  /** Exported name -> path of its kept copy. Names without a copy are left out. */
  find({ exports, paths }: CodeVersions, names: readonly string[]): Record<string, string> {
    if (!existsSync(this.#folder)) return {};
    const folder = realpathSync(this.#folder);
    return Object.fromEntries(
      names.flatMap((name) => {
        const [digest, path] = [exports[name], paths[name]];
        if (digest === undefined || path === undefined) return [];
        const copy = join(folder, nameOf(digest), path);
        return existsSync(copy) ? [[name, copy]] : [];
      }),
    );
  }

  /** Keeps the running code and removes code that no workflow runs any more. */
  keep({ exports, paths, runtimeDigest }: CodeVersions, { files, sources }: SourceTexts): void {
    mkdirSync(this.#folder, { recursive: true });
    const digests = new Set(Object.values(exports));
    for (const digest of digests) {
      const folder = join(this.#folder, nameOf(digest));
      const own = files[digest];
      if (!own || existsSync(folder)) continue;
      const temporary = temporaryPath(folder);
      for (const path of own) {
        mkdirSync(dirname(join(temporary, path)), { recursive: true });
        writeFileSync(join(temporary, path), sources[path]!);
      }
      renameSync(temporary, folder);
    }
    writeFileAtomically(this.#indexPath, JSON.stringify({ exports, paths, runtimeDigest }));
    const used = new Set([...digests].map(nameOf));
    for (const name of readdirSync(this.#folder))
      if (!used.has(name)) rmSync(join(this.#folder, name), { recursive: true, force: true });
  }
}

function nameOf(digest: string): string {
  return digest.slice(0, 16);
}
