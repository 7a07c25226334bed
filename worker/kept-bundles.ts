/**
 * Bundles that `longhaul up` has run, kept in the cache of the home under their build ID: open operations that began on one end on
 * it, also after edits, restarts and new releases.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../platform/atomic-files.js';
import type { Settings } from '../platform/settings/index.js';
import { longhaulPackage } from '../platform/package.js';
import { PROGRAM_PATH } from '../platform/program.js';
import { projectCacheFile } from '../platform/project.js';
import { SDK_VERSION } from './build-id.js';
import type { WorkflowBundle } from './bundle.js';

/** A kept bundle, and who can run it. */
export interface KeptBundle extends WorkflowBundle {
  /** Version of Temporal's SDK that it was made with, and runs under. */
  sdkVersion: string;
  /** Version of Longhaul that has kept it. */
  release: string;
  /** Path of that release's command line program. */
  program: string;
}

export class KeptBundles {
  readonly #folder: string;

  constructor(private readonly settings: Settings) {
    this.#folder = projectCacheFile(settings, 'builds').replace(/\.json$/, '');
  }

  /** Keeps a bundle, and notes that it is used now. @returns the kept one, whose file no edit changes */
  keep(bundle: WorkflowBundle): KeptBundle {
    mkdirSync(this.#folder, { recursive: true });
    const { buildId } = bundle;
    const known = this.find(buildId);
    if (known) {
      this.touch(buildId);
      return known;
    }
    const { version: release } = longhaulPackage();
    const kept: KeptBundle = {
      ...bundle,
      codePath: this.#pathOf(buildId, '.js'),
      ingredients: {},
      problems: [],
      sdkVersion: SDK_VERSION,
      release,
      program: PROGRAM_PATH,
    };
    writeFileAtomically(kept.codePath, readFileSync(bundle.codePath, 'utf8'));
    writeFileAtomically(this.#pathOf(buildId, '.json'), JSON.stringify(kept));
    return kept;
  }

  /** Undefined if it isn't kept. */
  find(buildId: string): KeptBundle | undefined {
    const [infoPath, codePath] = [this.#pathOf(buildId, '.json'), this.#pathOf(buildId, '.js')];
    if (!existsSync(infoPath) || !existsSync(codePath)) return undefined;
    return { ...(JSON.parse(readFileSync(infoPath, 'utf8')) as KeptBundle), codePath };
  }

  /** Build IDs, the last used first. */
  list(): string[] {
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder)
      .flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []))
      .sort((one, other) => this.usedAtMs(other) - this.usedAtMs(one));
  }

  /** When it was last used, in epoch milliseconds. */
  usedAtMs(buildId: string): number {
    return statSync(this.#pathOf(buildId, '.json'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  /** Notes that a bundle is used now. */
  touch(buildId: string): void {
    utimesSync(this.#pathOf(buildId, '.json'), new Date(), new Date());
  }

  remove(buildId: string): void {
    for (const extension of ['.json', '.js']) rmSync(this.#pathOf(buildId, extension), { force: true });
  }

  /** Command that runs a bundle which needs another SDK: the release that has kept it. */
  commandFor({ release, program }: KeptBundle): string {
    const { home, taskQueue } = this.settings;
    const start = existsSync(program) ? `node ${program}` : `longhaul (of release ${release})`;
    return `${start} worker --home ${home} --task-queue ${taskQueue}`;
  }

  #pathOf(buildId: string, extension: string): string {
    return join(this.#folder, buildId + extension);
  }
}
