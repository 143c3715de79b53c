import { existsSync } from 'node:fs';
import { win32 } from 'node:path';
import { EvictdError } from '../../../errors.js';
import { fileText, type InstallStep } from '../install-step.js';
import type { RunProgram } from '../install-machine.js';
import {
  windowsCommandLine,
  requireNoConfig,
  requireNoLinks,
  requireTrustedPlace,
  WINDOWS_SERVICE,
  type WindowsPlaces,
  WINDOWS_STARTER_CONFIG,
} from './windows-places.js';

export interface WindowsMachine {
  readonly places: WindowsPlaces;
  readonly isAdministrator: boolean;
  readonly run: RunProgram;
  /** evictd processes that use a runtime directory. */
  readonly running: (runtimeDirectory: string) => readonly number[];
}

export interface WindowsInstallRequest {
  /** node.exe and the program, absolute paths. */
  readonly program: readonly string[];
  /** Other files that it loads. */
  readonly loads: readonly string[];
  /** Absolute. `install` creates the default one if it is missing. */
  readonly configFile: string;
  /** --config names it, so the administrator knows that it exists. */
  readonly configNamed: boolean;
  /** Whether to start the service, or restart it if it changed. */
  readonly now: boolean;
  readonly dryRun: boolean;
}

const SYSTEM = '*S-1-5-18';
const ADMINISTRATORS = '*S-1-5-32-544';
const FULL = ':(OI)(CI)F';
/** The registry key of services: the output of sc.exe has no documented format. */
const SERVICES = 'HKLM\\SYSTEM\\CurrentControlSet\\Services';

/**
 * The steps that install the service. They change nothing if it is installed already.
 *
 * @throws EvictdError  evictd cannot be installed here
 */
export function windowsInstallSteps(request: WindowsInstallRequest, machine: WindowsMachine): readonly InstallStep[] {
  const { places } = machine;
  requireAdministrator(machine, 'install', !request.dryRun);
  requireTrustedPlace([...request.program, ...request.loads], places);
  requireNoLinks(places.data);
  const { configFile } = request;
  const line = windowsCommandLine([...request.program, 'run', '--config', configFile, '--log-file', places.logFile]);
  const present = installedLine(machine);
  const isNew = present === undefined;
  if (isNew && !request.configNamed) requireNoConfig(places);
  const settings = ['binPath=', line, 'start=', 'auto', 'DisplayName=', 'evictd'];
  return [
    { action: 'make', path: places.data },
    // Every user can create files below ProgramData, even this directory, whose files decide what evictd ends as
    // SYSTEM.
    run(places, 'icacls.exe', places.data, '/setowner', ADMINISTRATORS, '/T', '/L'),
    run(places, 'icacls.exe', places.data, '/reset', '/T', '/L'),
    run(places, 'icacls.exe', places.data, '/inheritance:r', '/grant:r', `${SYSTEM}${FULL}`, `${ADMINISTRATORS}${FULL}`),
    ...(isNew ? [sc(places, 'create', ...settings)] : present === line ? [] : [sc(places, 'config', ...settings)]),
    // After the service: any user may have written an earlier one.
    ...configSteps(configFile, places),
    sc(places, 'description', 'Node-pressure eviction monitor: evicts the least important workload, and says why'),
    // Restarts evictd without limit. An end that evictd did not report counts as a failure.
    sc(places, 'failure', 'reset=', '3600', 'actions=', 'restart/1000/restart/5000/restart/60000'),
    ...(request.now && !isNew && present !== line ? [stop(places)] : []),
    ...(request.now ? [run(places, 'net.exe', 'start', WINDOWS_SERVICE, { mayFail: !isNew && present === line })] : []),
  ];
}

/** The steps that uninstall the service. Keeps and lists configuration, log and journal. */
export function windowsUninstallSteps(
  { stateDirectory, dryRun }: { readonly stateDirectory: string; readonly dryRun: boolean },
  machine: WindowsMachine,
): readonly InstallStep[] {
  const { places } = machine;
  requireAdministrator(machine, 'uninstall', !dryRun);
  const kept = [places.configFile, places.logFile, stateDirectory].filter((path) => existsSync(path));
  const isThere = installedLine(machine) !== undefined;
  return [
    ...(isThere ? [stop(places), sc(places, 'delete')] : []),
    ...(existsSync(places.runtimeDirectory) ? [runtimeStep(machine, isThere)] : []),
    ...kept.map((path): InstallStep => ({
      action: 'keep',
      path,
      why: path === stateDirectory ? 'the journal' : 'your configuration or log',
    })),
  ];
}

/** @param stops  the service, which is stopped, is one of the processes that use it */
function runtimeStep({ places, running }: WindowsMachine, stops: boolean): InstallStep {
  const path = places.runtimeDirectory;
  const others = running(path).slice(stops ? 1 : 0);
  return others.length === 0 ? { action: 'remove', path } : { action: 'keep', path, why: `used by process ${others.join(', ')}` };
}

/**
 * The command line of the service; undefined: not installed. Throws EvictdError if `evictd install` did not create it.
 */
function installedLine({ places, run: runProgram }: WindowsMachine): string | undefined {
  const { status, output } = runProgram([
    win32.join(places.system, 'reg.exe'),
    'query',
    `${SERVICES}\\${WINDOWS_SERVICE}`,
    '/v',
    'ImagePath',
  ]);
  if (status !== 0) return undefined;
  const line = /^\s*ImagePath\s+REG_\w+\s+(.*?)\s*$/m.exec(output)?.[1] ?? '';
  if (/[\\/]evictd\.js" "run" "--config"/.test(line)) return line;
  throw new EvictdError(
    'EVICTD_INSTALL_FOREIGN',
    `the service ${WINDOWS_SERVICE} exists, and \`evictd install\` did not create it: ${line}`,
    {
      hint: `if it is not needed: sc.exe delete ${WINDOWS_SERVICE}`,
    },
  );
}

/** An existing configuration stays. */
function configSteps(path: string, places: WindowsPlaces): readonly InstallStep[] {
  if (path !== places.configFile) return [];
  return [
    fileText(path) === undefined
      ? { action: 'write', path, text: WINDOWS_STARTER_CONFIG }
      : { action: 'keep', path, why: 'your configuration' },
  ];
}

function requireAdministrator({ isAdministrator }: WindowsMachine, what: string, touches: boolean): void {
  if (isAdministrator || !touches) return;
  throw new EvictdError('EVICTD_INSTALL_ROOT', `only an administrator may ${what} a service`, {
    hint: `run evictd ${what} from an administrator prompt, or use --dry-run`,
  });
}

function stop(places: WindowsPlaces): InstallStep {
  return run(places, 'net.exe', 'stop', WINDOWS_SERVICE, { mayFail: true });
}

function sc(places: WindowsPlaces, verb: string, ...rest: readonly string[]): InstallStep {
  return run(places, 'sc.exe', verb, WINDOWS_SERVICE, ...rest);
}

function run({ system }: WindowsPlaces, program: string, ...args: readonly (string | { readonly mayFail: boolean })[]): InstallStep {
  const words = args.filter((arg) => typeof arg === 'string');
  const mayFail = args.some((arg) => typeof arg !== 'string' && arg.mayFail);
  return { action: 'run', command: [win32.join(system, program), ...words], ...(mayFail && { mayFail }) };
}
