import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Exchange rates. Until they are loaded there are only those that an earlier run has left on the disk. */
export class Rates {
  #rates = {};

  constructor(file) {
    try {
      this.#rates = JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      this.loading = new Promise((resolve) => setImmediate(resolve)).then(() => {
        this.#rates = { USD: 1.08, CHF: 0.94 };
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, JSON.stringify(this.#rates));
      });
    }
  }

  rate(currency) {
    return this.#rates[currency];
  }
}
