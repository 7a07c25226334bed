/** Records that the company's systems keep, each with a rule of its own. */

export type Body = Record<string, string | number>;

export interface Collection {
  table: string;
  /** IDs begin with it: `SUP-1001`. */
  prefix: string;
  columns: readonly string[];
  /** Why the system refuses a record; undefined if it accepts it. */
  problem?(body: Body): string | undefined;
}

export const COLLECTIONS: Record<string, Collection> = {
  'crm/suppliers': { table: 'suppliers', prefix: 'SUP', columns: ['name', 'country'] },
  'legal/contracts': {
    table: 'contracts',
    prefix: 'CON',
    columns: ['supplier', 'yearlySpend', 'approvedBy'],
  },
  'hr/people': { table: 'people', prefix: 'PER', columns: ['supplier', 'name', 'email'] },
  'erp/accounts': {
    table: 'accounts',
    prefix: 'ACC',
    columns: ['supplier', 'iban', 'approvedBy'],
    problem: ({ iban }) =>
      isIban(String(iban)) ? undefined : `iban: ${iban} has wrong check digits; payments would be returned`,
  },
};

/** Check digits of an IBAN (ISO 13616): letters count as 10 to 35, and the whole number leaves 1 when divided by 97. */
function isIban(text: string): boolean {
  const compact = text.replaceAll(' ', '').toUpperCase();
  if (!/^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/.test(compact)) return false;
  const digits = (compact.slice(4) + compact.slice(0, 4)).replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return BigInt(digits) % 97n === 1n;
}
