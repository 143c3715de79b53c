import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { attempt } from '../../../errors.js';
import { type OomdSettings, type OomRule, readOomdSettings, readOomRule } from '../../../core/systemd/oomd-settings.js';

/** The directories in order of precedence (oomd.conf(5)). */
const DIRECTORIES = ['/etc/systemd', '/run/systemd', '/usr/local/lib/systemd', '/usr/lib/systemd'];

export interface OomdFiles {
  readonly settings: OomdSettings;
  readonly rules: readonly OomRule[];
}

/** The files of systemd-oomd in the order in which they count. */
export interface OomdFilePaths {
  /** oomd.conf, then its drop-ins. */
  readonly settings: readonly string[];
  readonly rules: readonly string[];
}

/** @param root  prefix of the files; '': the machine's */
export function oomdFilePaths(root = ''): OomdFilePaths {
  const main = DIRECTORIES.map((directory) => `${root}${directory}/oomd.conf`).filter((path) => existsSync(path));
  return {
    settings: [...main.slice(0, 1), ...pathsIn(root, 'oomd.conf.d', '.conf')],
    rules: pathsIn(root, 'oomd/rules.d', '.oomrule'),
  };
}

/** @param root  prefix of the files; '': the machine's */
export function readOomdFiles(root = ''): OomdFiles {
  const { settings, rules } = oomdFilePaths(root);
  return {
    settings: readOomdSettings(settings.map(textIn)),
    rules: rules.flatMap((path) => readOomRule(basename(path, '.oomrule'), textIn(path)) ?? []),
  };
}

/** Files in the order of their names. Of files with one name that in the first directory counts, also if empty (/dev/null). */
function pathsIn(root: string, below: string, end: string): readonly string[] {
  const files = new Map<string, string>();
  for (const directory of DIRECTORIES.map((parent) => `${root}${parent}/${below}`)) {
    for (const name of namesIn(directory)) if (name.endsWith(end) && !files.has(name)) files.set(name, `${directory}/${name}`);
  }
  return [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, path]) => path);
}

function namesIn(directory: string): readonly string[] {
  return attempt(() => readdirSync(directory)) ?? []; // most machines have none
}

/** '' of a file that cannot be read. */
function textIn(path: string): string {
  return attempt(() => readFileSync(path, 'utf8')) ?? '';
}
