/** Result of one check of `longhaul doctor`. */
export interface Finding {
  check: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** Recommended action. */
  advice?: string;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail };
}

export function warn(check: string, detail: string, advice?: string): Finding {
  return { check, status: 'warn', detail, advice };
}

export function fail(check: string, detail: string, advice?: string): Finding {
  return { check, status: 'fail', detail, advice };
}
