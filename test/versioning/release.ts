/** Copies of the built release in folders of their own. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A copy, whose modules may be changed. */
export class Release {
  private constructor(private readonly folder: string) {
    cpSync(resolve('dist'), join(folder, 'dist'), { recursive: true });
    cpSync(resolve('package.json'), join(folder, 'package.json'));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  }

  /** @param folder doesn't exist yet */
  static copyTo(folder: string): Release {
    mkdirSync(folder, { recursive: true });
    return new Release(folder);
  }

  /** Path of the command line's program. */
  get main(): string {
    return join(this.folder, 'dist/bin/longhaul.js');
  }

  /**
   * Has each operation wait for a timer before everything else, and each pipeline for another one before its jobs, so that the
   * histories of other releases don't replay.
   */
  plantTimers(): void {
    this.#plantTimer('dist/workflows/runtime/interceptors.js', '    countFirstQueueTime();\n');
    this.#plantTimer('dist/workflows/pipeline/index.js', '    await runJobs(run, jobs, slots);\n');
    this.#run('dist/worker/build-bundle.js');
  }

  /** Build ID of a worker of this release. @param settings environment variables */
  buildId(settings: Record<string, string>): string {
    const script = `
      const { loadSettings } = await import(${JSON.stringify(join(this.folder, 'dist/platform/settings/index.js'))});
      const { bundleWorkflows } = await import(${JSON.stringify(join(this.folder, 'dist/worker/bundle.js'))});
      console.log((await bundleWorkflows(await loadSettings())).buildId);`;
    return this.#run('--input-type=module', ['--eval', script], settings).trim();
  }

  #plantTimer(file: string, statement: string): void {
    const path = join(this.folder, file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(statement)) throw new Error(`${path} has no ${statement.trim()}`);
    const planted = text.replace(statement, `    await planted(1);\n${statement}`);
    writeFileSync(path, `import { sleep as planted } from '@temporalio/workflow';\n${planted}`);
  }

  #run(first: string, rest: string[] = [], settings: Record<string, string> = {}): string {
    return execFileSync(process.execPath, [first, ...rest], {
      cwd: this.folder,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', ...settings },
    });
  }
}
