import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { selectHost } from '../host/select.js';
import { runProgram } from '../install/systemctl.js';
import type { WindowsInstallRequest, WindowsMachine } from '../install/windows-install.js';
import { windowsPlaces } from '../install/windows-place.js';
import { addonPath } from '../native/index.js';
import { LOADED, MANIFEST } from './installation.js';

/** This Windows, and this program by the paths behind all links. */
export function thisWindowsInstallation(): {
  readonly machine: WindowsMachine;
  readonly program: Pick<WindowsInstallRequest, 'program' | 'loads'>;
} {
  const [, script = ''] = process.argv;
  const root = dirname(dirname(realpathSync(script)));
  const loads = [...LOADED, MANIFEST].map((file) => join(root, file)).filter((path) => existsSync(path));
  const { isAdministrator, lockHoldersIn } = selectHost();
  return {
    machine: { places: windowsPlaces(process.env), isAdministrator: isAdministrator(), run: runProgram, running: lockHoldersIn },
    program: {
      program: [process.execPath, script].map((path) => realpathSync(path)),
      loads: [addonPath, ...loads].map((path) => realpathSync(path)),
    },
  };
}
