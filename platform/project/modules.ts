/**
 * Loads the project's modules without a build step. Each instance evaluates every file once, so make a new one after edits.
 * Packages under node_modules load once per process. ES modules in JavaScript are reevaluated only as entries, because Node.js
 * caches those that other files import.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Jiti, ModuleCache } from 'jiti';
import { CODE_ROOT } from '../code-root.js';
import { isProjectFile, PACKAGE_ENTRIES, SDK_PACKAGES } from './index.js';
import { missingPathOf } from './problems.js';

let loader: Promise<Jiti> | undefined;

/** The loader without its own cache: callers pass theirs. */
function jiti(): Promise<Jiti> {
  return (loader ??= import('jiti').then(({ createJiti }) => {
    refuseExits();
    return createJiti(import.meta.url, {
      alias: { ...SDK_PACKAGES, ...PACKAGE_ENTRIES },
      moduleCache: false,
    });
  }));
}

const evaluated = new AsyncLocalStorage<string>();

/** A file that ends the process as it is loaded would stop what the others do, without a word. */
function refuseExits(): void {
  const exit = process.exit.bind(process);
  process.exit = (...code) => {
    if (evaluated.getStore() === undefined) return exit(...code);
    throw new Error('the file ends the process as it is loaded: process.exit()');
  };
}

export class ProjectModules {
  readonly #cache: ModuleCache = {};
  /** Files that were evaluated or failed, and folders with a missing import. */
  readonly #watched = new Set<string>();

  /**
   * Evaluates a file and its imports. Await each call before the next, or they see half-evaluated modules.
   *
   * @throws whatever the file throws
   */
  async import(path: string): Promise<unknown> {
    if (path.startsWith(CODE_ROOT)) return (await import(path)) as unknown;
    const { evalModule } = await jiti();
    this.#watched.add(path);
    try {
      return (
        this.#cache[path]?.exports ??
        (await evaluated.run(path, () =>
          evalModule(readFileSync(path, 'utf8'), {
            id: path,
            filename: path,
            ext: extname(path),
            cache: this.#cache,
            async: true,
            forceTranspile: true,
          }),
        ))
      );
    } catch (error) {
      const missing = missingPathOf(error);
      if (missing !== undefined) this.#watched.add(missing);
      throw error;
    } finally {
      for (const [file, module] of Object.entries(this.#cache)) {
        this.#watched.add(file);
        // The next importer must not find a failed module in the cache.
        if (!module.loaded) delete this.#cache[file];
      }
    }
  }

  /** Paths whose changes require a reload. */
  watched(): string[] {
    return [...this.#watched].filter(isProjectFile);
  }
}
