/** Result of one check of `longhaul doctor`. */
export interface Finding {
  check: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** Recommended action. */
  advice?: string;
}
