import type { Protocol } from './entry.js';
import { jobs } from './jobs.js';
import { mailbox, plain, sep1391, twoStage } from './operations.js';
import { revision20260728 } from './revision-2026-07-28.js';
import { sessions } from './sessions.js';

/** Protocols over HTTP, each with a corpus of valid requests. */
export const PROTOCOLS: readonly Protocol[] = [
  revision20260728,
  sessions,
  sep1391,
  twoStage,
  plain,
  jobs,
  mailbox,
];
