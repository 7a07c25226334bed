/**
 * Loads modules of a user's project without a build step, and reloads them after edits: each instance evaluates every file
 * once; a new instance evaluates all of them again. Packages under node_modules are loaded once per process.
 *
 * ES modules in JavaScript files are reevaluated only as entries: Node.js caches those that other files import.
 */
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Jiti, ModuleCache } from 'jiti';
import { CODE_ROOT, isProjectFile, PACKAGE_ENTRIES, SDK_PACKAGES } from './project.js';
import { missingPathOf } from './project-problems.js';

let loader: Promise<Jiti> | undefined;

/** The loader without its own cache: callers pass theirs. */
function jiti(): Promise<Jiti> {
  return (loader ??= import('jiti').then(({ createJiti }) =>
    createJiti(import.meta.url, { alias: { ...SDK_PACKAGES, ...PACKAGE_ENTRIES }, moduleCache: false }),
  ));
}

export class ProjectModules {
  readonly #cache: ModuleCache = {};
  /** Files that were evaluated or failed, and folders in which an imported file is missing. */
  readonly #watched = new Set<string>();

  /**
   * Evaluates a file and its imports. Await each call before the next: concurrent calls would see modules half evaluated.
   *
   * @throws whatever the file, or the loader, throws
   */
  async import(path: string): Promise<unknown> {
    if (path.startsWith(CODE_ROOT)) return (await import(path)) as unknown;
    const { evalModule } = await jiti();
    this.#watched.add(path);
    try {
      return (
        this.#cache[path]?.exports ??
        (await evalModule(readFileSync(path, 'utf8'), {
          id: path,
          filename: path,
          ext: extname(path),
          cache: this.#cache,
          async: true,
          forceTranspile: true,
        }))
      );
    } catch (error) {
      const missing = missingPathOf(error);
      if (missing !== undefined) this.#watched.add(missing);
      throw error;
    } finally {
      for (const [file, module] of Object.entries(this.#cache)) {
        this.#watched.add(file);
        // The next file that imports a failed module must not find it in the cache.
        if (!module.loaded) delete this.#cache[file];
      }
    }
  }

  /** Paths whose changes require a reload. */
  watched(): string[] {
    return [...this.#watched].filter(isProjectFile);
  }
}
