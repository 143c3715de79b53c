import type { Config } from '../../../config/config.js';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EvictdError } from '../../../errors.js';
import { unitDirectories } from './unit-directories.js';
import { isOurs } from './starter-config.js';
import { logindSteps, type LogindRequest } from './logind.js';
import { requireMachine, requireNoPackage, type Machine } from '../install-machine.js';
import { fileText, type InstallStep } from '../install-step.js';
import { requireTrusted } from '../trusted-program.js';
import { SERVICE, serviceUnit, SLICE, sliceUnit } from './units.js';

const ORIGIN = 'Written by `evictd install`, removed by `evictd uninstall`. To change it, use a drop-in: systemctl edit evictd';

export interface InstallRequest {
  /** Node and the program: absolute paths with links resolved. */
  readonly program: readonly string[];
  /** Other files that it loads. */
  readonly loads: readonly string[];
  /** The directory of evictd's package; undefined: none. */
  readonly root: string | undefined;
  readonly documentation: string | undefined;
  /** Absolute. `install` creates the default one if it is missing. */
  readonly configFile: string;
  /** Absolute: a kubelet's drop-ins. undefined: none. */
  readonly configDirectory: string | undefined;
  /** `configFile` is that of the installed service. */
  readonly configKept: boolean;
  /** The text of a new configuration. */
  readonly starter: string;
  readonly metrics: Config['metrics'];
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  readonly logind: LogindRequest;
  /** Whether to start the service, or restart it if it changed. */
  readonly now: boolean;
  readonly dryRun: boolean;
}

/**
 * The steps that install the service. They change nothing if it is installed already.
 *
 * @throws EvictdError  evictd cannot be installed here
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

/** An existing configuration stays. */
function configSteps({ configFile: path, configKept, starter }: InstallRequest, byDefault: string): readonly InstallStep[] {
  if (configKept) return [{ action: 'keep', path, why: 'the service uses it; --config selects another' }];
  if (path !== byDefault) return [];
  return [existsSync(path) ? { action: 'keep', path, why: 'your configuration' } : { action: 'write', path, text: starter }];
}

function unitStep(path: string, text: string): InstallStep {
  const present = fileText(path);
  if (present === undefined) return { action: 'write', path, text };
  if (present === 'other' || !isOurs(present.text)) {
    throw new EvictdError('EVICTD_INSTALL_FOREIGN', `${path} exists, and \`evictd install\` did not write it`, {
      hint: present === 'other' ? `it is a link; if the unit is masked: systemctl unmask ${SERVICE}` : `move it: mv ${path} ${path}.old`,
    });
  }
  return present.text === text ? { action: 'keep', path, why: 'unchanged' } : { action: 'write', path, text };
}

function run(...args: readonly string[]): InstallStep {
  return { action: 'run', command: ['systemctl', ...args] };
}
