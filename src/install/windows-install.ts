import { existsSync } from 'node:fs';
import { win32 } from 'node:path';
import { EvictdError } from '../errors.js';
import { fileText, type InstallStep } from './step.js';
import type { RunProgram } from './systemctl.js';
import { windowsCommandLine } from './windows-command-line.js';
import { requireNoConfig, requireNoLinks, requireTrustedPlace, WINDOWS_SERVICE, type WindowsPlaces } from './windows-place.js';
import { WINDOWS_STARTER_CONFIG } from './windows-starter-config.js';

/** What an installation needs of Windows. */
export interface WindowsMachine {
  readonly places: WindowsPlaces;
  readonly isAdministrator: boolean;
  readonly run: RunProgram;
  /** Processes of evictds that use a runtime directory. */
  readonly running: (runtimeDirectory: string) => readonly number[];
}

export interface WindowsInstallRequest {
  /** Absolute paths: node.exe and the program. */
  readonly program: readonly string[];
  /** What else is loaded by it. */
  readonly loads: readonly string[];
  /** Absolute. The default one is made where it is missing. */
  readonly configFile: string;
  /** Whoever installs has named it, and so knows that it is there. */
  readonly configNamed: boolean;
  /** Start it, too, or start it again where it has changed. */
  readonly now: boolean;
  readonly dryRun: boolean;
}

const SYSTEM = '*S-1-5-18';
const ADMINISTRATORS = '*S-1-5-32-544';
const FULL = ':(OI)(CI)F';
/** Where the service manager keeps what it knows: what sc.exe prints of it is in no form that is promised. */
const SERVICES = 'HKLM\\SYSTEM\\CurrentControlSet\\Services';

/**
 * The steps to a service of Windows. Where all is done already, none of them changes anything.
 *
 * @throws EvictdError  it cannot be installed here
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
    // Below ProgramData every user may make files, and this directory before: evictd ends processes as the system by what stands here.
    run(places, 'icacls.exe', places.data, '/setowner', ADMINISTRATORS, '/T', '/L'),
    run(places, 'icacls.exe', places.data, '/reset', '/T', '/L'),
    run(places, 'icacls.exe', places.data, '/inheritance:r', '/grant:r', `${SYSTEM}${FULL}`, `${ADMINISTRATORS}${FULL}`),
    ...(isNew ? [sc(places, 'create', ...settings)] : present === line ? [] : [sc(places, 'config', ...settings)]),
    // After it: one that is there before the service may be anybody's.
    ...configSteps(configFile, places),
    sc(places, 'description', 'Node-pressure eviction monitor: evicts the least important workload, and says why'),
    // It is started again for as long as it takes: an end that evictd has not told of counts as a failure.
    sc(places, 'failure', 'reset=', '3600', 'actions=', 'restart/1000/restart/5000/restart/60000'),
    ...(request.now && !isNew && present !== line ? [stop(places)] : []),
    ...(request.now ? [run(places, 'net.exe', 'start', WINDOWS_SERVICE, { mayFail: !isNew && present === line })] : []),
  ];
}

/** The steps back. Configuration, log and journal stay, and are named. */
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
    ...kept.map((path): InstallStep => ({ action: 'keep', path, why: path === stateDirectory ? 'the journal' : 'it is yours' })),
  ];
}

/** @param stops  the service is one of those that use it */
function runtimeStep({ places, running }: WindowsMachine, stops: boolean): InstallStep {
  const path = places.runtimeDirectory;
  const others = running(path).slice(stops ? 1 : 0);
  return others.length === 0 ? { action: 'remove', path } : { action: 'keep', path, why: `process ${others.join(', ')} uses it` };
}

/** The command line of the service; undefined: it is not installed. Throws EvictdError where it is somebody else's. */
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
    `there is a service ${WINDOWS_SERVICE}, and \`evictd install\` has not made it: ${line}`,
    {
      hint: `sc.exe delete ${WINDOWS_SERVICE}, if nobody needs it`,
    },
  );
}

/** A configuration is the administrator's: one that is there stays. */
function configSteps(path: string, places: WindowsPlaces): readonly InstallStep[] {
  if (path !== places.configFile) return [];
  return [
    fileText(path) === undefined ? { action: 'write', path, text: WINDOWS_STARTER_CONFIG } : { action: 'keep', path, why: 'it is yours' },
  ];
}

function requireAdministrator({ isAdministrator }: WindowsMachine, what: string, touches: boolean): void {
  if (isAdministrator || !touches) return;
  throw new EvictdError('EVICTD_INSTALL_ROOT', `only an administrator may ${what} a service`, {
    hint: `evictd ${what} from a prompt that was opened as administrator, or --dry-run to see what it would do`,
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
