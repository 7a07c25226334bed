/**
 * The activities of a worker, reloaded after edits: running attempts end with the old code, the next attempt runs the new code.
 * A broken file keeps its previous activities.
 */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Settings } from '../../platform/settings/index.js';
import { filesOf, isProjectFile } from '../../platform/project/index.js';
import {
  loadActivityFiles,
  NameRegistry,
  type Activity,
  type LoadedFile,
} from '../../platform/project/code.js';
import { ProjectModules } from '../../platform/project/modules.js';
import type { ProjectError } from '../../platform/project/problems.js';

type ActivityFile = LoadedFile<Record<string, Activity>>;

export class ActivityCode {
  #files: ActivityFile[] = [];
  #activities = new Map<string, Activity>();
  #modules = new ProjectModules();

  private constructor(
    private readonly settings: Settings,
    private readonly own: Record<string, Activity>,
  ) {}

  /** @throws ProjectError when a file can't be used: steps of open operations would fail for good without its activities */
  static async load(settings: Settings, own: Record<string, Activity>): Promise<ActivityCode> {
    const code = new ActivityCode(settings, own);
    await code.reload();
    const [error] = code.errors();
    if (error) throw error;
    return code;
  }

  async reload(): Promise<void> {
    const before = new Map(this.#files.map(({ path, value }) => [path, value]));
    const modules = new ProjectModules();
    const names = new NameRegistry('an activity');
    const files: ActivityFile[] = [];
    for (const { path, value, error } of await loadActivityFiles(this.settings, modules)) {
      const refused = error ?? (value && names.take(Object.keys(value), path));
      const used = refused ? before.get(path) : value;
      files.push({ path, ...(used ? { value: used } : {}), ...(refused ? { error: refused } : {}) });
    }
    this.#modules = modules;
    this.#files = files;
    // Broken files first, so working files override their old activities.
    const inOrder = [...files].sort((one, other) => Number(!!other.error) - Number(!!one.error));
    this.#activities = new Map(
      [...inOrder.map(({ value }) => value ?? {}), this.own].flatMap((given) => Object.entries(given)),
    );
  }

  errors(): ProjectError[] {
    return this.#files.flatMap(({ error }) => (error ? [error] : []));
  }

  watched(): string[] {
    return [...filesOf('activities', this.settings), ...this.#modules.watched()];
  }

  /** File that exports an activity. */
  fileOf(activityType: string): string | undefined {
    return this.#files.find(({ value }) => value && activityType in value)?.path;
  }

  /** The worker's default activity: dispatches by activity type. */
  readonly dispatch: Activity = (...args) => {
    const { activityType } = activityInfo();
    const activity = this.#activities.get(activityType) ?? this.#activities.get('default');
    if (activity) return activity(...args);
    const own = this.#files.filter(({ path }) => isProjectFile(path));
    const known = own.flatMap(({ value }) => Object.keys(value ?? {})).join(', ');
    throw ApplicationFailure.retryable(
      `no file in activities/ exports a function "${activityType}"${known && `; known are ${known}`}`,
      'NotFoundError',
    );
  };
}
