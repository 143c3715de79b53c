import { execFile } from 'node:child_process';
import type { Unseen } from '../../facts/unread-fact.js';

/**
 * What a program prints. Never rejects. No eviction depends on it.
 *
 * @param signal ends it. execFile's own timeout would lose the output of a program that has just ended
 */
export function outputOf(program: string, args: readonly string[], signal: AbortSignal): Promise<string | Unseen> {
  return new Promise((resolve) => {
    const options = {
      signal,
      killSignal: 'SIGKILL',
      env: { ...process.env, LC_ALL: 'C', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' },
    } as const;
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else resolve({ unseen: `${program}: ${/\S.*/.exec(stderr)?.[0] ?? String(error.code ?? error.message)}` });
    });
  });
}
