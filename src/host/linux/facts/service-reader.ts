import { existsSync } from 'node:fs';
import { type ServiceFacts, isUnseen, type InstanceFacts, type Unseen } from '../../facts.js';
import { join } from 'node:path';
import { errnoName } from '../../../errors.js';
import { flockHolders, isZombie, readLockFile, type LockFile } from '../process/lock-files.js';
import { textOf } from './text-file.js';
import { execFile } from 'node:child_process';

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

/**
 * The evictd that guards a node: the holder of the lock in the runtime directory. Does not try the lock, because an
 * evictd that starts at that moment would be refused.
 *
 * @param instance of instanceName
 */
export function readInstance(runtimeDirectory: string, instance: string): InstanceFacts {
  const path = join(runtimeDirectory, `${instance}.lock`);
  let file: LockFile | undefined;
  try {
    file = readLockFile(path);
  } catch (error) {
    return { kind: 'unseen', unseen: `${path}: ${errnoName(error) ?? String(error)}` };
  }
  if (file === undefined) return { kind: 'none' };
  const locks = textOf('/proc/locks');
  return typeof locks === 'string'
    ? instanceOf(
        file,
        flockHolders(locks, file.inode).filter((pid) => !isZombie(pid)),
      )
    : { kind: 'unseen', unseen: locks.unseen };
}

/** The content counts only while the file is locked: it stays when its evictd ends. */
export function instanceOf({ pid, version }: LockFile, holders: readonly number[]): InstanceFacts {
  if (holders.includes(pid)) return { kind: 'running', pid, version };
  if (holders.includes(0)) return { kind: 'unseen', unseen: 'the lock is held by a process outside this process namespace' };
  return { kind: 'none' };
}

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
