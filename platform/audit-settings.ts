/** Settings of the audit log. */
import { z } from 'zod';
import { yesOrNo } from './setting-types.js';

export const auditSettingsShape = {
  /** Folder of the audit log, to which the server appends who did what. Default: none, so that nothing is recorded. */
  auditLog: z.string().min(1),
  /**
   * Refuse actions that change something while the audit log can't be written, and record them before they are done, too.
   * Default: false; then they are done, and the log says how many lines are missing.
   */
  auditRequired: yesOrNo,
};

export interface AuditSettings {
  auditLog: string | undefined;
  auditRequired: boolean;
}

/** @param absolute makes a path absolute */
export function resolveAuditSettings(
  { auditLog, auditRequired }: { auditLog?: string | undefined; auditRequired?: boolean | undefined },
  absolute: (path: string) => string,
): AuditSettings {
  return { auditLog: auditLog && absolute(auditLog), auditRequired: auditRequired ?? false };
}

/**
 * The reason why no server may start with these settings; undefined if one may.
 *
 * @param flag name of a setting -> its flag
 */
export function auditConflict(
  { auditLog, auditRequired }: AuditSettings,
  flag: (name: keyof AuditSettings) => string,
): string | undefined {
  return auditRequired && auditLog === undefined
    ? `${flag('auditRequired')} true: expected ${flag('auditLog')} too, the folder to write to`
    : undefined;
}
