import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join, win32 } from 'node:path';
import { EvictdError } from '../errors.js';

/** The name of the service. */
export const WINDOWS_SERVICE = 'evictd';

/** Where an installation lies on Windows. */
export interface WindowsPlaces {
  /** Of evictd alone: '%ProgramData%\evictd'. */
  readonly data: string;
  readonly configFile: string;
  readonly logFile: string;
  readonly runtimeDirectory: string;
  /** Of the system's programs: sc.exe, net.exe and icacls.exe are called by their whole paths. */
  readonly system: string;
  /** Where administrators alone may write, as Windows sets these up. Not its own directory: 'C:\\Windows\\Temp' is everybody's. */
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
 * Nothing in the directory of an installation leads out of it: below ProgramData every user may make it first, and what is made the administrators' then would be what
 * his link leads to.
 *
 * @throws EvictdError  a link (a junction is one)
 */
export function requireNoLinks(directory: string): void {
  const link = linkIn(directory);
  if (link === undefined) return;
  throw new EvictdError('EVICTD_INSTALL_UNSAFE', `${link} is a link, which evictd has not made, where it writes as the system`, {
    hint: `look at who has made ${directory}, and remove the link`,
  });
}

/**
 * Before there is a service, everybody may have written the configuration where the default one lies: as the system evictd would end whomever it names. Who has written it Node cannot
 * tell.
 *
 * @throws EvictdError  it is there
 */
export function requireNoConfig({ data, configFile }: Pick<WindowsPlaces, 'data' | 'configFile'>): void {
  if (!existsSync(configFile)) return;
  throw new EvictdError('EVICTD_INSTALL_UNSAFE', `${configFile} is there before the service: every user may have written it`, {
    hint: `look at it; then \`evictd install --config ${configFile}\` takes it as it is, or remove ${data}`,
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
 * What the system runs at every start, administrators alone may change. Node cannot read access lists, so that the places count that Windows protects.
 *
 * @throws EvictdError  it lies elsewhere
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
    `${outside} lies where others than administrators may write, who could then run anything as the system`,
    {
      hint: `copy Node and evictd's package to ${trusted[0] ?? 'C:\\Program Files'}\\evictd, and install from there`,
    },
  );
}
