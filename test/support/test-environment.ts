/** The test kit as it is built: its processes run `dist/bin`. */
import { resolve } from 'node:path';
import type * as Kit from '../../testing/index.js';

export const { TestToolEnvironment } = (await import(resolve('dist/bin/testing.js'))) as typeof Kit;
export type TestToolEnvironment = Kit.TestToolEnvironment;
