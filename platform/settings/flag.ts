/** The command line flag of a setting: `--temporal-port` for `temporalPort`. */
export function settingFlag(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
