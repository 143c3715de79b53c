import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EvictdError } from '../errors.js';
import { unitDirectories } from './directories.js';
import { isOurs } from './installed.js';
import { logindSteps, type LogindRequest } from './logind.js';
import { requireMachine, requireNoPackage, type Machine } from './machine.js';
import { STARTER_CONFIG } from './starter-config.js';
import { fileText, type InstallStep } from './step.js';
import { requireTrusted } from './trusted-program.js';
import { SERVICE, serviceUnit, SLICE, sliceUnit } from './units.js';

export const ORIGIN = 'Written by `evictd install`, removed by `evictd uninstall`. Changes belong into a drop-in: systemctl edit evictd';

export interface InstallRequest {
  /** Absolute paths, links resolved: Node and the program. */
  readonly program: readonly string[];
  /** What else is loaded by it. */
  readonly loads: readonly string[];
  /** The directory of evictd's package; undefined: it is in none. */
  readonly root: string | undefined;
  readonly documentation: string | undefined;
  /** Absolute. The default one is made where it is missing. */
  readonly configFile: string;
  /** It was not asked for: the service has it. */
  readonly configKept: boolean;
  /** As configured. */
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  readonly logind: LogindRequest;
  /** Start it, too, or start it again where it has changed. */
  readonly now: boolean;
  readonly dryRun: boolean;
}

/**
 * The steps to a service that systemd starts. Where all is done already, none of them changes anything.
 *
 * @throws EvictdError  it cannot be installed here
 */
export function installSteps(request: InstallRequest, machine: Machine): readonly InstallStep[] {
  requireMachine(machine, 'install', !request.dryRun);
  requireNoPackage(machine, `systemctl enable --now ${SERVICE}`);
  requireTrusted([...request.program, ...request.loads], request.root);
  const { places } = machine;
  const { runtime, writable, steps } = unitDirectories(request, places);
  const units = [
    unitStep(join(places.units, SLICE), sliceUnit(ORIGIN)),
    unitStep(join(places.units, SERVICE), serviceUnit({ ...request, origin: ORIGIN, runtime, writable })),
  ];
  const changed = units.some(({ action }) => action === 'write');
  return [
    ...configSteps(request, places.configFile),
    ...steps,
    ...units,
    ...logindSteps(request.logind, places.logindDropIn),
    ...(changed ? [run('daemon-reload')] : []),
    run('enable', SERVICE),
    ...(request.now ? [run(changed ? 'restart' : 'start', SERVICE)] : []),
  ];
}

/** A configuration is the administrator's: one that is there stays. */
function configSteps({ configFile: path, configKept }: InstallRequest, byDefault: string): readonly InstallStep[] {
  if (configKept) return [{ action: 'keep', path, why: 'the service has it; --config names another' }];
  if (path !== byDefault) return [];
  return [existsSync(path) ? { action: 'keep', path, why: 'it is yours' } : { action: 'write', path, text: STARTER_CONFIG }];
}

function unitStep(path: string, text: string): InstallStep {
  const present = fileText(path);
  if (present === undefined) return { action: 'write', path, text };
  if (present === 'other' || !isOurs(present.text)) {
    throw new EvictdError('EVICTD_INSTALL_FOREIGN', `${path} is there, and \`evictd install\` has not written it`, {
      hint: present === 'other' ? `a link: was the unit masked? systemctl unmask ${SERVICE}` : `move it away: mv ${path} ${path}.old`,
    });
  }
  return present.text === text ? { action: 'keep', path, why: 'unchanged' } : { action: 'write', path, text };
}

function run(...args: readonly string[]): InstallStep {
  return { action: 'run', command: ['systemctl', ...args] };
}
