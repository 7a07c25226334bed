/**
 * Build step: removes compiled files whose source is gone. `tsc -b` leaves them, and shipped tools, workflows and activities are
 * found by their files in `dist/`.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const COMPILED = /\.(js|js\.map|d\.ts)$/;
/** Made by other steps of the build. */
const MADE = /^(bin\/|swagger-ui\/|dev-|workflow-bundle|workflow-entry)/;

if (existsSync('dist'))
  for (const path of readdirSync('dist', { recursive: true, encoding: 'utf8' }))
    if (COMPILED.test(path) && !MADE.test(path) && !existsSync(path.replace(COMPILED, '.ts')))
      rmSync(join('dist', path));
