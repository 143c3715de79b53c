import { execFile } from 'node:child_process';
import type { Unseen } from '../../../doctor/facts/unseen.js';

/**
 * What a program prints. Never rejects. Nothing of an eviction goes this way.
 *
 * @param signal  ends it. Not by execFile's own time limit: that takes the output away of one that has ended already, and was not heard yet
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
