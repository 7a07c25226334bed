/**
 * Modules of a user's project, loaded without a build step, and again after an edit: each instance evaluates every file
 * once, and a new instance evaluates all of them anew. Packages under node_modules are loaded once a process.
 *
 * JavaScript files that are ES modules are evaluated again only as entries: Node.js keeps those that other files import.
 */
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Jiti, ModuleCache } from 'jiti';
import { CODE_ROOT, isProjectFile, PACKAGE_ENTRIES, SDK_PACKAGES } from './project.js';
import { missingPathOf } from './project-problems.js';

let loader: Promise<Jiti> | undefined;

/** Without a cache of its own: its users bring theirs. */
function jiti(): Promise<Jiti> {
  return (loader ??= import('jiti').then(({ createJiti }) =>
    createJiti(import.meta.url, { alias: { ...SDK_PACKAGES, ...PACKAGE_ENTRIES }, moduleCache: false }),
  ));
}

export class ProjectModules {
  readonly #cache: ModuleCache = {};
  /** Files that were evaluated or tried, and folders that lack what was imported. */
  readonly #watched = new Set<string>();

  /**
   * Evaluates a file and what it imports. Await one call before the next: modules that both import would run half.
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
        // A module that failed must not be taken for a loaded one by the next file that imports it.
        if (!module.loaded) delete this.#cache[file];
      }
    }
  }

  /** Paths whose changes call for another load. */
  watched(): string[] {
    return [...this.#watched].filter(isProjectFile);
  }
}
