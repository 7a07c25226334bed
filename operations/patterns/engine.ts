/**
 * The regular-expression engine: RE2 in JavaScript, which matches in linear time. Loaded with the first pattern: every
 * workflow sandbox evaluates the modules that it imports, and most schemas have no pattern.
 */
import { createRequire } from 'node:module';
import type * as Re2js from 're2js';

// The bundler of workflows resolves this one too (see worker/bundle.ts).
const require = createRequire(import.meta.url);

/** @param source in RE2's syntax */
export function compileRe2(source: string): { test(text: string): boolean } {
  const { RE2JS } = require('re2js') as typeof Re2js;
  return RE2JS.compile(source);
}
