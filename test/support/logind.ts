import { systemd } from './systemd.js';

/** logind on the bus, as busctl takes it. */
export const MANAGER = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager'] as const;

/** Processes that hold a lock by which evictd makes a shutdown wait, as logind lists them. */
export function lockHolders(): number[] {
  const list = systemd('busctl', '--json=short', 'call', ...MANAGER, 'ListInhibitors');
  const { data } = JSON.parse(list) as { data: [[string, string, string, string, number, number][]] };
  return data[0].filter(([what, who, , mode]) => what === 'shutdown' && who === 'evictd' && mode === 'delay').map((lock) => lock[5]);
}
