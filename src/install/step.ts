import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectorySync, replaceFileSync } from '../directory.js';
import { errnoName, EvictdError } from '../errors.js';
import type { Systemctl } from './systemctl.js';

/** One thing that an installation does, or leaves as it is and says so. */
export type InstallStep =
  | { readonly action: 'write'; readonly path: string; readonly text: string }
  | { readonly action: 'make' | 'remove'; readonly path: string }
  /** `owed`: it cannot go, because of what evictd has left in it. */
  | { readonly action: 'keep'; readonly path: string; readonly why: string; readonly owed?: true }
  /** What was given back; it is done already. */
  | { readonly action: 'restore'; readonly path: string; readonly what: string }
  | { readonly action: 'run'; readonly command: readonly string[]; readonly mayFail?: true };

/**
 * Does it.
 *
 * @throws EvictdError  what was done before stands, and the same steps can be taken again
 */
export function take(step: InstallStep, systemctl: Systemctl): void {
  switch (step.action) {
    case 'keep':
    case 'restore':
      return;
    case 'run': {
      const { status, output } = systemctl(step.command);
      if (status !== 0 && step.mayFail !== true) throw failed(step.command, status, output);
      return;
    }
    case 'write':
      onDisk(step.path, () => {
        makeDirectorySync(dirname(step.path), 0o755);
        replaceFileSync(step.path, step.text, 0o644);
      });
      return;
    case 'make':
      onDisk(step.path, () => {
        makeDirectorySync(step.path, 0o750);
      });
      return;
    case 'remove':
      onDisk(step.path, () => {
        rmSync(step.path, { recursive: true, force: true });
      });
  }
}

/** The text of a regular file; undefined: there is nothing. 'other': something else, a link for example. */
export function fileText(path: string): { readonly text: string } | 'other' | undefined {
  try {
    return lstatSync(path).isFile() ? { text: readFileSync(path, 'utf8') } : 'other';
  } catch (error) {
    if (errnoName(error) === 'ENOENT') return undefined;
    throw notOnDisk(path, error);
  }
}

function onDisk(path: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    throw notOnDisk(path, error);
  }
}

function notOnDisk(path: string, cause: unknown): EvictdError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new EvictdError('EVICTD_INSTALL_FILE', `${path}: ${reason}`, {
    hint: 'where /etc is read-only, install evictd where its image is made; else look at the disk',
    cause,
  });
}

function failed(command: readonly string[], status: number | undefined, output: string): EvictdError {
  const said = output === '' ? '' : `: ${output}`;
  const [program = ''] = command;
  if (program !== 'systemctl') {
    return new EvictdError('EVICTD_INSTALL_COMMAND', `${command.join(' ')} ended with ${String(status ?? 'a signal')}${said}`, {
      hint: 'run it as an administrator; sc.exe query evictd says how the service stands',
    });
  }
  return new EvictdError('EVICTD_INSTALL_SYSTEMCTL', `${command.join(' ')} ended with ${String(status ?? 'a signal')}${said}`, {
    hint: 'systemctl status evictd; journalctl -u evictd -n 30',
  });
}
