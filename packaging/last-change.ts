import { execFileSync } from 'node:child_process';

/** Seconds since 1970 of the last commit, so that the same tree makes the same package. */
export function lastChange(): string {
  const { SOURCE_DATE_EPOCH: given } = process.env;
  if (given !== undefined) return given;
  try {
    return execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return String(Math.floor(Date.now() / 1000)); // no checkout
  }
}
