import { existsSync } from 'node:fs';
import type { ServiceFacts } from '../../facts/process-facts.js';
import { isUnseen } from '../../facts/unread-fact.js';
import { outputOf } from './program-output.js';

const PROPERTIES = [
  'LoadState',
  'ActiveState',
  'SubState',
  'UnitFileState',
  'NeedDaemonReload',
  'Result',
  'MainPID',
  'WatchdogUSec',
  'Restart',
  'Slice',
];

export async function readService(signal: AbortSignal): Promise<ServiceFacts> {
  if (!existsSync('/run/systemd/system')) return { kind: 'no systemd' }; // sd_booted(3)
  const shown = await outputOf('systemctl', ['show', 'evictd.service', `--property=${PROPERTIES.join(',')}`], signal);
  if (isUnseen(shown)) return { kind: 'unseen', unseen: shown.unseen };
  const properties = parseProperties(shown);
  return properties.LoadState === undefined
    ? { kind: 'unseen', unseen: 'systemctl reports nothing about it' }
    : { kind: 'unit', properties };
}

/** 'NAME=value' lines, as `systemctl show` prints them. */
export function parseProperties(shown: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    shown.split('\n').flatMap((line) => {
      const at = line.indexOf('=');
      return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}
