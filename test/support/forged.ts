/** A sealed ID, a cursor or a signed token whose last characters somebody has changed. */
export const forged = (sealed: string): string =>
  `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`;
