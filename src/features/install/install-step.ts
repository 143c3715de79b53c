import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectorySync, replaceFileSync } from '../../storage/directory.js';
import { errnoName, EvictdError } from '../../errors.js';
import type { Systemctl } from './systemd/systemctl.js';

/** A step of an installation, or something that it keeps and reports. */
export type InstallStep =
  | { readonly action: 'write'; readonly path: string; readonly text: string }
  | { readonly action: 'make' | 'remove'; readonly path: string }
  /** `owed`: it contains changes of evictd that are not restored. */
  | { readonly action: 'keep'; readonly path: string; readonly why: string; readonly owed?: true }
  /** Done already. */
  | { readonly action: 'restore'; readonly path: string; readonly what: string }
  | { readonly action: 'run'; readonly command: readonly string[]; readonly mayFail?: true };

/**
 * Carries out a step.
 *
 * @throws EvictdError  earlier steps remain; all steps can be repeated
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

/** The text of a regular file; undefined: does not exist; 'other': not a regular file, such as a link. */
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
    hint: 'if /etc is read-only, install evictd when you build the image; otherwise check the disk',
    cause,
  });
}

function failed(command: readonly string[], status: number | undefined, output: string): EvictdError {
  const outcome = status === undefined ? 'did not exit' : `failed with status ${String(status)}`;
  const reason = output === '' ? '' : `: ${output}`;
  const [program = ''] = command;
  if (program !== 'systemctl') {
    return new EvictdError('EVICTD_INSTALL_COMMAND', `${command.join(' ')} ${outcome}${reason}`, {
      hint: 'run it as an administrator; sc.exe query evictd shows the state of the service',
    });
  }
  return new EvictdError('EVICTD_INSTALL_SYSTEMCTL', `${command.join(' ')} ${outcome}${reason}`, {
    hint: 'see systemctl status evictd and journalctl -u evictd -n 30',
  });
}
