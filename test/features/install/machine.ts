import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { STARTER_CONFIG } from '../../../src/features/install/systemd/starter-config.js';
import type { InstallRequest } from '../../../src/features/install/systemd/install-steps.js';
import type { Machine } from '../../../src/features/install/install-machine.js';
import type { InstallStep } from '../../../src/features/install/install-step.js';
import type { UninstallRequest } from '../../../src/features/install/systemd/uninstall-steps.js';
import { scratch } from '../../config/scratch.js';

/** Only root may write there; the directories of test files are writable for all users. */
const TRUSTED = '/proc/version';

/**
 * A machine with systemd in a scratch directory. systemctl is played: where these tests run there is no systemd.
 * test/systemd/install.test.ts has the real one.
 */
export function playedMachine(overrides: Partial<Machine> = {}): { machine: Machine; ran: string[]; at: (path: string) => string } {
  const root = scratch();
  chmodSync(root, 0o755);
  const at = (path: string): string => join(root, path);
  const ran: string[] = [];
  mkdirSync(at('run/systemd'), { recursive: true });
  mkdirSync(at('etc/systemd/system'), { recursive: true });
  const machine: Machine = {
    places: {
      units: at('etc/systemd/system'),
      packagedUnits: [at('usr/lib/systemd/system')],
      systemd: at('run/systemd'),
      logindDropIn: at('etc/systemd/logind.conf.d/zz-evictd.conf'),
      configFile: at('etc/evictd/config.yaml'),
      stateDirectory: at('var/lib/evictd'),
      runtimeDirectory: at('run/evictd'),
      runtimes: [at('run'), at('var/run')],
    },
    uid: 0,
    systemctl: (command) => {
      ran.push(command.join(' '));
      return { status: 0, output: command.includes('--property=MainPID') ? '42' : '' };
    },
    running: () => [],
    isThere: (path) => Promise.resolve(existsSync(path)),
    restore: () => Promise.resolve({ restored: [], unrestored: [], hangs: false }),
    ...overrides,
  };
  return { machine, ran, at };
}

export function request(machine: Machine, overrides: Partial<InstallRequest> = {}): InstallRequest {
  const { configFile, stateDirectory, runtimeDirectory } = machine.places;
  return {
    program: [TRUSTED, TRUSTED],
    root: undefined,
    loads: [],
    documentation: undefined,
    configFile,
    configDirectory: undefined,
    configKept: false,
    starter: STARTER_CONFIG,
    metrics: { host: '127.0.0.1', port: 9796 },
    stateDirectory,
    runtimeDirectory,
    logind: { wanted: false, setting: undefined, suffices: undefined },
    now: false,
    dryRun: false,
    ...overrides,
  };
}

export function uninstallRequest({ places }: Machine, overrides: Partial<UninstallRequest> = {}): UninstallRequest {
  const { configFile, stateDirectory, runtimeDirectory } = places;
  return {
    dryRun: false,
    configFile,
    directories: { stateDirectory, runtimeDirectory, journal: { maxBytes: 1, maxFiles: 2 } },
    ...overrides,
  };
}

export function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** 'write etc/evictd/config.yaml', 'run systemctl daemon-reload': short, without the scratch directory. */
export function reported(steps: readonly InstallStep[], root: string): string[] {
  return steps.map((step) => `${step.action} ${step.action === 'run' ? step.command.join(' ') : step.path.slice(root.length + 1)}`);
}
