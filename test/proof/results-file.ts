import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Result, Results } from './results.js';

/** In the repository: a proof takes hours, and goes on in another clone. */
export const RESULTS_FILE = '.ci/proof.json';

export function readResults(): Results {
  try {
    return JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) as Results;
  } catch {
    return {}; // none yet
  }
}

export function keepResult(name: string, result: Result): void {
  const all = Object.entries({ ...readResults(), [name]: result }).sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(`${RESULTS_FILE}.new`, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
  renameSync(`${RESULTS_FILE}.new`, RESULTS_FILE);
}
