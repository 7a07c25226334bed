/**
 * Build step: bundles the compiled modules of `dist/` into `dist/bin/`, which is what runs. Entries share chunks, so a process
 * has one copy of each module. Loading one file instead of hundreds halves the CPU time of a start. The sandbox of workflows
 * still reads `dist/workflows/`, module by module.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';

const OUT = 'dist/bin';

/** Name in `dist/bin/` -> module in `dist/`. */
const PROGRAMS = {
  longhaul: 'cli/main.js',
  // Forked by Longhaul, or run in a thread.
  'bundle-workflows': 'worker/versions/bundle-process.js',
  'replay-histories': 'worker/replay/process.js',
  'watch-event-loop': 'worker/process/event-loop/thread.js',
  'analyze-dataset': 'activities/analyze_dataset/analysis-process.js',
  // Exports of the package. `longhaul/workflow` is for the sandbox.
  index: 'index.js',
  activity: 'activities/runtime/index.js',
  server: 'server.js',
  testing: 'testing/index.js',
};

/** Packages with native code or files beside their modules, and packages that only some processes load. */
const EXTERNAL = /^(@temporalio\/|@duckdb\/|@aws-sdk\/|@opentelemetry\/|(jiti|node-sqlite3-wasm|re2js)$)/;

const require = createRequire(import.meta.url);

/**
 * Loads external packages by `require`, with the names that they export now. All of them are CommonJS, and an `import` would
 * have Node.js search the text of each of their files for names.
 */
const requireExternal = {
  name: 'require-external',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: EXTERNAL }, ({ path, kind }) =>
      kind === 'require-call' ? { path, external: true } : { path, namespace: 'external' },
    );
    onLoad({ filter: /.*/, namespace: 'external' }, ({ path }) => {
      const names = Object.keys(require(path)).filter((name) => name !== 'default');
      const contents = [
        `const module = require(${JSON.stringify(path)});`,
        'export default module;',
        ...names.map((name) => `const $${name} = module.${name}; export { $${name} as ${name} };`),
      ];
      return { contents: contents.join('\n') };
    });
  },
};

/** Shipped tools and activities, loaded by path: `tools/analyze_dataset` for `tools/analyze_dataset/index.js`. */
function shippedCode() {
  const folders = ['tools', 'activities'].flatMap((kind) =>
    readdirSync(join('dist', kind)).map((name) => `${kind}/${name}`),
  );
  return Object.fromEntries(
    folders
      .filter((name) => name !== 'activities/runtime' && existsSync(join('dist', name, 'index.js')))
      .map((name) => [name, `${name}/index.js`]),
  );
}

const { outputFiles } = await build({
  entryPoints: Object.entries({ ...PROGRAMS, ...shippedCode() }).map(([out, path]) => ({
    in: join('dist', path),
    out,
  })),
  outdir: OUT,
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  plugins: [requireExternal],
  sourcemap: true,
  sourcesContent: false,
  // CommonJS packages call it.
  banner: {
    js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
  },
  write: false,
  logLevel: 'warning',
});

/** Files of before that are still right keep their time of change: a running stack may load them later. */
const made = new Set(outputFiles.map(({ path }) => path));
if (existsSync(OUT))
  for (const entry of readdirSync(OUT, { recursive: true, withFileTypes: true })) {
    const path = resolve(entry.parentPath, entry.name);
    if (entry.isFile() && !made.has(path)) rmSync(path);
  }
for (const { path, contents } of outputFiles) {
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path) || !readFileSync(path).equals(contents)) writeFileSync(path, contents);
}

/** Read at run time. */
const LAUNCHER = 'worker/steps/launcher';
for (const name of readdirSync(LAUNCHER))
  if (name.endsWith('.sh')) copyFileSync(join(LAUNCHER, name), join('dist', LAUNCHER, name));
