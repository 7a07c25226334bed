/** The packed package in a project outside the checkout, with the files of docs/writing-a-tool.md. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { writeFiles } from '../support/write-files.js';

export const run = promisify(execFile);
const CHECKOUT = resolve('.');
const PAGE = readFileSync('docs/writing-a-tool.md', 'utf8');

/** The page's code blocks that name a file: file -> text. */
export function filesOnThePage(): Record<string, string> {
  const blocks = [...PAGE.matchAll(/```(?:ts|json)\n\/\/ (\S+)\n([\s\S]*?)```/g)];
  return Object.fromEntries(blocks.map(([, path, text]) => [path!, text!]));
}

export class PackedProject {
  readonly folder: string;
  readonly installed: string;

  private constructor(readonly root: string) {
    this.folder = join(root, 'log-tools');
    this.installed = join(root, 'store/node_modules/longhaul');
  }

  /** @param root an empty folder */
  static async create(root: string, files = filesOnThePage()): Promise<PackedProject> {
    const project = new PackedProject(root);
    project.write({ 'package.json': JSON.stringify({ name: 'log-tools', type: 'module' }), ...files });
    await project.#install();
    return project;
  }

  get main(): string {
    return join(this.folder, 'node_modules/longhaul/dist/bin/longhaul.js');
  }

  write(files: Record<string, string>): void {
    writeFiles(this.folder, files);
  }

  /**
   * Installs the packed package the way pnpm lays it out: beside it only what it depends on, and nothing of that within
   * the project's own reach. Code that works here works with npm too, which hides less.
   */
  async #install(): Promise<void> {
    const { dependencies, version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      dependencies: Record<string, string>;
      version: string;
    };
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', this.root]);
    const store = dirname(this.installed);
    mkdirSync(store, { recursive: true });
    await run('tar', ['xzf', join(this.root, `longhaul-${version}.tgz`), '-C', store]);
    await run('mv', [join(store, 'package'), this.installed]);
    for (const name of Object.keys(dependencies))
      link(join(CHECKOUT, 'node_modules', name), join(store, name));
    link(this.installed, join(this.folder, 'node_modules/longhaul'));
    this.link('zod');
    chmodSync(this.main, 0o755);
  }

  /** Puts a package of the checkout into the project. */
  link(name: string): void {
    link(join(CHECKOUT, 'node_modules', name), join(this.folder, 'node_modules', name));
  }
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
