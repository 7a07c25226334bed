/**
 * The bundle of workflow code that Temporal's sandbox runs: the shell and all workflows. The shipped workflows are
 * bundled as Longhaul is built; with a user's own, a bundle is made as the worker starts and kept by its content.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, type Logger as TemporalLogger } from '@temporalio/worker';
import type { Settings } from '../platform/config.js';
import { CODE_ROOT, filesOf, ownModule, PACKAGE_ENTRIES } from '../platform/project.js';

const SHIPPED_BUNDLE = join(CODE_ROOT, 'workflow-bundle.js');

/** Path of the bundle for these settings; made now when there is none yet, which takes about 2 seconds. */
export async function workflowBundle(settings: Settings, logger: TemporalLogger): Promise<string> {
  const files = filesOf('workflows', settings);
  const isShippedOnly = settings.shippedTools && files.every((path) => path.startsWith(CODE_ROOT));
  if (isShippedOnly && existsSync(SHIPPED_BUNDLE)) return SHIPPED_BUNDLE;
  const folder = join(settings.home, 'cache');
  mkdirSync(folder, { recursive: true });
  const entry = join(folder, `workflows-${hashOf(files.join('\n'))}.js`);
  writeFileSync(entry, files.map((path) => `export * from ${JSON.stringify(path)};\n`).join(''));
  const { code } = await bundle(entry, logger);
  const path = join(folder, `bundle-${hashOf(code)}.js`);
  const unfinished = `${path}.${process.pid}.tmp`;
  writeFileSync(unfinished, code);
  renameSync(unfinished, path);
  return path;
}

/** Bundles the shipped workflows; called by the build. */
export async function bundleShippedWorkflows(settings: Settings, logger: TemporalLogger): Promise<void> {
  const entry = join(CODE_ROOT, 'workflow-entry.js');
  const files = filesOf('workflows', settings);
  writeFileSync(entry, files.map((path) => `export * from ${JSON.stringify(path)};\n`).join(''));
  const { code } = await bundle(entry, logger);
  if (!existsSync(SHIPPED_BUNDLE) || readFileSync(SHIPPED_BUNDLE, 'utf8') !== code)
    writeFileSync(SHIPPED_BUNDLE, code);
}

function bundle(workflowsPath: string, logger: TemporalLogger) {
  return bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: [ownModule('workflows/shell/interceptors')],
    logger,
    webpackConfigHook: (config) => ({
      ...config,
      resolve: {
        ...config.resolve,
        extensionAlias: { '.js': ['.ts', '.js'] },
        alias: {
          ...config.resolve?.alias,
          // Users' projects need no copy of Temporal's SDK of their own; two copies would not see each other.
          ...Object.fromEntries(Object.entries(PACKAGE_ENTRIES).map(([name, path]) => [`${name}$`, path])),
        },
        modules: ['node_modules', join(CODE_ROOT, 'node_modules'), join(CODE_ROOT, '..', 'node_modules')],
      },
    }),
  });
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
