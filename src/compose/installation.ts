import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { selectHost } from '../host/select.js';
import { type Machine, PLACES, runProgram } from '../features/install/install-machine.js';
import { windowsPlaces } from '../features/install/windows/windows-places.js';
import { addonPath, native } from '../native/index.js';
import { Timeouts } from '../node/timeouts.js';
import { restore } from './restoration.js';
import { readInhibitDelay } from '../node/configured-platform.js';

/** The timeout for a directory that may not respond. */
const TIMEOUT_MS = 5_000;

/** This machine, and this program with all links resolved: a service must not depend on them. */
export function thisInstallation() {
  const { root, program, loads, beside } = thisProgram();
  const { os, isAdministrator, lockHoldersIn } = selectHost();
  const isWindows = os === 'windows';
  let hangs = false;
  const timeouts = new Timeouts();
  const machine: Machine = {
    places: isWindows ? { ...PLACES, runtimeDirectory: windowsPlaces(process.env).runtimeDirectory } : PLACES,
    uid: isWindows && isAdministrator() ? 0 : process.getuid?.(),
    systemctl: runProgram,
    running: lockHoldersIn,
    isThere: (path) =>
      timeouts.within(TIMEOUT_MS, () =>
        access(path).then(
          () => true,
          () => false,
        ),
      ),
    restore: async (directories, forget, only) => {
      const restoration = await restore(directories, forget, only);
      hangs ||= restoration.hangs;
      return restoration;
    },
  };
  const manifest = beside('package.json');
  return {
    machine,
    readInhibitDelay,
    program: {
      program,
      loads,
      root: manifest === undefined ? undefined : root,
      documentation: beside('docs/README.md'),
    },
    /** Ends the process at once if a directory that does not respond would block its end. */
    end: (exitCode: number): void => {
      if (hangs || timeouts.expired) native.exitNow(exitCode);
    },
  };
}

/** This machine and this program on Windows. */
export function thisWindowsInstallation() {
  const { program, loads } = thisProgram();
  const { isAdministrator, lockHoldersIn } = selectHost();
  return {
    machine: { places: windowsPlaces(process.env), isAdministrator: isAdministrator(), run: runProgram, running: lockHoldersIn },
    program: { program, loads },
  };
}

function thisProgram() {
  const [, script = ''] = process.argv;
  const root = dirname(dirname(realpathSync(script)));
  const beside = (file: string): string | undefined => (existsSync(join(root, file)) ? join(root, file) : undefined);
  return {
    root,
    beside,
    program: [process.execPath, script].map((path) => realpathSync(path)),
    loads: [addonPath, ...codeIn(join(root, 'dist')), ...['package.json', 'dist/package.json'].flatMap((file) => beside(file) ?? [])].map(
      (path) => realpathSync(path),
    ),
  };
}

/** The bundles, and what V8 has kept of them. */
function codeIn(directory: string): readonly string[] {
  const files = existsSync(directory) ? readdirSync(directory) : [];
  return files.filter((file) => /\.(cjs|cache)$/.test(file)).map((file) => join(directory, file));
}
