import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isOurs } from './starter-config.js';
import { removeLogindSteps } from './logind.js';
import { type EvictdDirectories, requireMachine, requireNoPackage, type Machine } from '../install-machine.js';
import { restored, usedBy } from '../restore.js';
import { fileText, type InstallStep } from '../install-step.js';
import { SERVICE, SLICE } from './units.js';

export interface UninstallRequest {
  readonly dryRun: boolean;
  /** The configuration file of the service. */
  readonly configFile: string;
  readonly directories: EvictdDirectories;
}

/**
 * The steps that uninstall the service, each computed after the previous one was carried out: stops the service, which
 * restores what evictd has changed, removes it, and restores what a killed evictd has changed. Keeps and lists
 * configuration and journal.
 *
 * @throws EvictdError  evictd cannot be uninstalled here
 */
export function uninstallSteps(request: UninstallRequest, machine: Machine): AsyncIterable<InstallStep> {
  const { dryRun, configFile, directories } = request;
  requireMachine(machine, 'uninstall', !dryRun);
  const { places } = machine;
  const units = [SERVICE, SLICE].map((name) => join(places.units, name));
  const ours = units.filter((path) => {
    const present = fileText(path);
    return typeof present === 'object' && isOurs(present.text);
  });
  if (ours.length === 0) requireNoPackage(machine, 'apt remove evictd');
  const stops = ours.includes(join(places.units, SERVICE));
  const configs = [
    dirname(places.configFile),
    ...(configFile === places.configFile ? [] : [configFile]),
    ...units.map((path) => `${path}.d`),
  ];
  return (async function* () {
    if (stops) yield* [run(['disable', '--now', SERVICE]), run(['stop', SLICE])];
    for (const path of ours) yield { action: 'remove', path };
    if (ours.length > 0) yield* [run(['daemon-reload']), run(['reset-failed', SERVICE], true)];
    yield* removeLogindSteps(places.logindDropIn);
    for (const runtimeDirectory of new Set([places.runtimeDirectory, directories.runtimeDirectory])) {
      yield* runtimeSteps({ ...directories, runtimeDirectory }, machine, { dryRun, stops });
    }
    yield* units.filter((path) => !ours.includes(path) && existsSync(path)).map((path) => keep(path, '`evictd install` did not write it'));
    yield* configs.filter((path) => existsSync(path)).map((path) => keep(path, 'configuration'));
    const { stateDirectory } = directories;
    const isThere = await machine.isThere(stateDirectory);
    if (isThere !== false) yield keep(stateDirectory, isThere ? 'the journal' : 'the journal, perhaps: the directory does not answer');
  })();
}

/** Removes the runtime directory, unless it has changes that are not restored or another evictd uses it. */
async function* runtimeSteps(
  directories: EvictdDirectories,
  machine: Machine,
  { dryRun, stops }: { readonly dryRun: boolean; readonly stops: boolean },
): AsyncGenerator<InstallStep> {
  const path = directories.runtimeDirectory;
  if (!existsSync(path)) return;
  let isUnrestored = false;
  if (!dryRun) {
    for await (const step of restored(directories, machine)) {
      isUnrestored ||= step.action === 'keep';
      yield step;
    }
  }
  const main = dryRun && stops ? machine.systemctl(['systemctl', 'show', '--value', '--property=MainPID', SERVICE]).output : undefined;
  const others = machine.running(path).filter((pid) => String(pid) !== main);
  if (others.length > 0) yield keep(path, usedBy(others));
  else if (path !== machine.places.runtimeDirectory) yield keep(path, 'configured as runtimeDirectory: remove it if nothing else uses it');
  else if (!isUnrestored) yield { action: 'remove', path };
}

function keep(path: string, why: string): InstallStep {
  return { action: 'keep', path, why };
}

function run(args: readonly string[], mayFail = false): InstallStep {
  const command = ['systemctl', ...args];
  return mayFail ? { action: 'run', command, mayFail } : { action: 'run', command };
}
