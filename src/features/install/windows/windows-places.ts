import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join, win32 } from 'node:path';
import { EvictdError } from '../../../errors.js';

export const WINDOWS_SERVICE = 'evictd';

export interface WindowsPlaces {
  /** '%ProgramData%\evictd' */
  readonly data: string;
  readonly configFile: string;
  readonly logFile: string;
  readonly runtimeDirectory: string;
  /** The directory of sc.exe, net.exe and icacls.exe. */
  readonly system: string;
  /** Directories that only administrators can write. Not 'C:\\Windows': every user can write 'C:\\Windows\\Temp'. */
  readonly trusted: readonly string[];
}

export function windowsPlaces(env: NodeJS.ProcessEnv): WindowsPlaces {
  const data = win32.join(env.ProgramData ?? 'C:\\ProgramData', 'evictd');
  const root = env.SystemRoot ?? 'C:\\Windows';
  return {
    data,
    configFile: win32.join(data, 'config.yaml'),
    logFile: win32.join(data, 'evictd.log'),
    runtimeDirectory: win32.join(data, 'run'),
    system: win32.join(root, 'System32'),
    trusted: [env.ProgramFiles, env.ProgramW6432, env['ProgramFiles(x86)']].filter((path) => path !== undefined),
  };
}

/**
 * Refuses links in the directory of an installation: any user can create it first, and icacls would change the target
 * of the link.
 *
 * @throws EvictdError  a link or a junction
 */
export function requireNoLinks(directory: string): void {
  const link = linkIn(directory);
  if (link === undefined) return;
  throw new EvictdError('EVICTD_INSTALL_UNSAFE', `${link} is a link that evictd did not create, in a directory that it writes as SYSTEM`, {
    hint: `find out which user created ${directory}, and remove the link`,
  });
}

/**
 * Refuses a default configuration that exists before the service: any user may have written it, and it decides what
 * evictd ends as SYSTEM. Node cannot read the owner.
 *
 * @throws EvictdError  it exists
 */
export function requireNoConfig({ data, configFile }: Pick<WindowsPlaces, 'data' | 'configFile'>): void {
  if (!existsSync(configFile)) return;
  throw new EvictdError('EVICTD_INSTALL_UNSAFE', `${configFile} exists before the service: any user may have written it`, {
    hint: `check it, then run \`evictd install --config ${configFile}\` to use it, or remove ${data}`,
  });
}

function linkIn(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink() === true) return path;
  if (stats?.isDirectory() !== true) return undefined;
  for (const name of readdirSync(path)) {
    const link = linkIn(join(path, name));
    if (link !== undefined) return link;
  }
  return undefined;
}

/**
 * Checks that only administrators can change the files that SYSTEM runs. Node cannot read access lists, so this accepts
 * only directories that Windows protects.
 *
 * @throws EvictdError  a file is in another directory
 */
export function requireTrustedPlace(files: readonly string[], { trusted }: Pick<WindowsPlaces, 'trusted'>): void {
  const isBelow = (file: string, directory: string): boolean => {
    const between = win32.relative(directory, file);
    return between !== '' && !between.startsWith('..') && !win32.isAbsolute(between);
  };
  const outside = files.find((file) => !trusted.some((directory) => isBelow(file, directory)));
  if (outside === undefined) return;
  throw new EvictdError(
    'EVICTD_INSTALL_UNSAFE',
    `${outside} is not in a directory that only administrators can write: another user could run programs as SYSTEM`,
    {
      hint: `copy Node and evictd's package to ${trusted[0] ?? 'C:\\Program Files'}\\evictd and install from there`,
    },
  );
}

/**
 * A command line that passes each word unchanged (CommandLineToArgvW): quotes every word, escapes quotes, doubles
 * backslashes before quotes.
 */
export function windowsCommandLine(words: readonly string[]): string {
  return words.map((word) => `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`).join(' ');
}

/**
 * %ProgramData%\evictd\config.yaml of a new installation: the defaults, and no workloads, so that evictd evicts
 * nothing.
 */
export const WINDOWS_STARTER_CONFIG = `# Configuration of evictd. \`evictd config check\` checks it, \`evictd reload\` applies it.
apiVersion: evictd.dev/v1
kind: EvictdConfiguration

# The workloads that evictd may evict. By default none. evictd never evicts system processes.
workloads: []
#  - job: batch
#  - service: 'worker-*'
#  - process: { path: 'C:\\Apps\\**' }

# Which workloads evictd never evicts (critical), and which it evicts first (the lowest priority).
rules: []
#  - match: { name: 'postgres.exe' }
#    critical: true
#  - match: { path: 'C:\\Apps\\batch\\*' }
#    priority: -10

# When evictd evicts. These are the defaults.
evictionHard:
  memory.available: 500Mi
  nodefs.available: 10%
`;
