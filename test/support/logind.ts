import { systemd } from './systemd.js';

/** logind on the bus: arguments of busctl. */
export const MANAGER = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager'] as const;

/** Processes that hold a delay lock of evictd, as listed by logind. */
export function lockHolders(): number[] {
  const list = systemd('busctl', '--json=short', 'call', ...MANAGER, 'ListInhibitors');
  const { data } = JSON.parse(list) as { data: [[string, string, string, string, number, number][]] };
  return data[0].filter(([what, who, , mode]) => what === 'shutdown' && who === 'evictd' && mode === 'delay').map((lock) => lock[5]);
}
