import { existsSync, realpathSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { InhibitDelay } from '../core/inhibit-delay.js';
import { selectHost } from '../host/select.js';
import type { InstallRequest } from '../install/install.js';
import type { Machine } from '../install/machine.js';
import { PLACES } from '../install/place.js';
import { runProgram } from '../install/systemctl.js';
import { windowsPlaces } from '../install/windows-place.js';
import { addonPath, native } from '../native/index.js';
import { Timeouts } from './doctor/deadline.js';
import { restore } from './restoration.js';
import { readInhibitDelay } from './shutdown.js';

/** What the program runs, where it is there. */
export const LOADED = ['dist/program.cjs', 'dist/program.cache', 'dist/cri.cjs'];
/** It says how Node loads the program. */
export const MANIFEST = 'package.json';

/** For a directory that may not answer. */
const PATIENCE_MS = 5_000;

/** This machine, and this program by the paths behind all links: what a service is to run, whatever becomes of the links. */
export function thisInstallation(): ThisInstallation {
  const [, script = ''] = process.argv;
  const root = dirname(dirname(realpathSync(script)));
  const beside = (file: string): string | undefined => (existsSync(join(root, file)) ? join(root, file) : undefined);
  const { os, isAdministrator, lockHoldersIn } = selectHost();
  const isWindows = os === 'windows';
  let hangs = false;
  const patience = new Timeouts();
  const machine: Machine = {
    places: isWindows ? { ...PLACES, runtimeDirectory: windowsPlaces(process.env).runtimeDirectory } : PLACES,
    uid: isWindows && isAdministrator() ? 0 : process.getuid?.(),
    systemctl: runProgram,
    running: lockHoldersIn,
    isThere: (path) =>
      patience.within(PATIENCE_MS, () =>
        access(path).then(
          () => true,
          () => false,
        ),
      ),
    restore: async (directories, forget) => {
      const restoration = await restore(directories, forget);
      hangs ||= restoration.hangs;
      return restoration;
    },
  };
  const manifest = beside(MANIFEST);
  return {
    machine,
    readInhibitDelay,
    program: {
      program: [process.execPath, script].map((path) => realpathSync(path)),
      loads: [addonPath, ...[...LOADED, MANIFEST].flatMap((file) => beside(file) ?? [])].map((path) => realpathSync(path)),
      root: manifest === undefined ? undefined : root,
      documentation: beside('docs/operations.md'),
    },
    end: (exitCode) => {
      if (hangs || patience.expired) native.exitNow(exitCode);
    },
  };
}

interface ThisInstallation {
  readonly machine: Machine;
  readonly readInhibitDelay: () => Promise<InhibitDelay>;
  readonly program: Program;
  /** Ends the process at once where a directory that does not answer would keep it. */
  readonly end: (exitCode: number) => void;
}

type Program = Pick<InstallRequest, 'program' | 'loads' | 'root' | 'documentation'>;
