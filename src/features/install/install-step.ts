import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectorySync, replaceFileSync } from '../../storage/directory.js';
import { errnoName, EvictdError, messageOf } from '../../errors.js';
import type { Systemctl, Machine } from './install-machine.js';
import type { Io } from '../../cli/output/io.js';
import { jsonDocument } from '../../core/name/json-text.js';

/** A step of an installation, or something that it keeps and reports. */
export type InstallStep =
  | { readonly action: 'write'; readonly path: string; readonly text: string }
  | { readonly action: 'make' | 'remove'; readonly path: string }
  /** `unrestored`: it contains changes of evictd that are not restored. */
  | { readonly action: 'keep'; readonly path: string; readonly why: string; readonly unrestored?: true }
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
  return new EvictdError('EVICTD_INSTALL_FILE', `${path}: ${messageOf(cause)}`, {
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

export interface StepOptions {
  readonly dryRun: boolean;
  readonly output: 'text' | 'json';
  /** Steps that remain for the operator. */
  readonly next?: readonly string[];
  /** Printed if no step changed anything. */
  readonly nothing: string;
}

/**
 * Performs the steps. Text output lists each step once it is done, so that those before a failure are known.
 *
 * @returns the exit code: 1 if a step could not undo everything
 */
export async function runSteps(
  io: Io,
  steps: Iterable<InstallStep> | AsyncIterable<InstallStep>,
  { systemctl }: Pick<Machine, 'systemctl'>,
  { dryRun, output, next = [], nothing }: StepOptions,
): Promise<0 | 1> {
  if (dryRun && output === 'text') io.stdout('dry run: nothing is changed\n');
  const taken: InstallStep[] = [];
  for await (const step of steps) {
    if (!dryRun) take(step, systemctl);
    if (output === 'text') io.stdout(`${stepLine(step)}\n`);
    taken.push(step);
  }
  const isUnrestored = taken.some((step) => step.action === 'keep' && step.unrestored === true);
  if (output === 'json') io.stdout(stepsJson(taken, { dryRun, next }));
  else if (!isUnrestored && taken.every(({ action }) => action === 'keep')) io.stdout(`${nothing}\n`);
  else if (next.length > 0) io.stdout(`\n${next.map((line) => `${line}\n`).join('')}`);
  return isUnrestored ? 1 : 0;
}

/** 'write   /etc/systemd/system/evictd.service' */
function stepLine(step: InstallStep): string {
  const verb = step.action.padEnd(7);
  switch (step.action) {
    case 'run':
      return `${verb} ${step.command.join(' ')}`;
    case 'keep':
      return `${verb} ${step.path} (${step.why})`;
    case 'restore':
      return `${verb} ${step.path} (${step.what})`;
    case 'write':
    case 'make':
    case 'remove':
      return `${verb} ${step.path}`;
  }
}

const NO_DROP_IN = '  evictd install --logind-drop-in: the inhibit delay of logind is shorter than shutdownGracePeriod';
const NOT_LOADED = '  evictd shutdown --plan: logind has not loaded its drop-in yet';

/** What remains to be done after an installation, one command or sentence per line. */
export function installNextSteps({
  configFile,
  now,
  dryRun,
  hasNoWorkloads,
  short,
}: {
  readonly configFile: string;
  readonly now: boolean;
  readonly dryRun: boolean;
  readonly hasNoWorkloads: boolean;
  /** The inhibit delay is too short: a file wins over the drop-in, or that was not written: it exists, or was not requested. */
  readonly short: { readonly hasDropIn: boolean; readonly winner?: string | undefined } | undefined;
}): readonly string[] {
  if (dryRun) return [];
  return [
    'next:',
    ...(hasNoWorkloads ? [`  configure workloads in ${configFile}; until then evictd evicts nothing`] : []),
    ...(short ? [delayStep(short)] : []),
    `  evictd config check --config ${configFile}`,
    now ? '  systemctl reload evictd' : '  systemctl start evictd',
    '  systemctl status evictd; journalctl -u evictd',
  ];
}

function delayStep({ hasDropIn, winner }: { readonly hasDropIn: boolean; readonly winner?: string | undefined }): string {
  if (winner !== undefined) return `  raise InhibitDelayMaxSec of logind in ${winner}: its name sorts last, so it wins`;
  return hasDropIn ? NOT_LOADED : NO_DROP_IN;
}

function stepsJson(steps: readonly InstallStep[], more: { readonly dryRun: boolean; readonly next: readonly string[] }): string {
  const { dryRun, next } = more;
  return jsonDocument({ dryRun, steps, next: next.slice(1).map((line) => line.trim()) });
}
