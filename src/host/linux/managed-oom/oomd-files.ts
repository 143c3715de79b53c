import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { attempt } from '../../../errors.js';
import { countingFiles, SYSTEMD_DIRECTORIES } from '../../../core/systemd/file-precedence.js';
import { type OomdSettings, type OomRule, readOomdSettings, readOomRule } from '../../../core/systemd/oomd-settings.js';

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
  const main = SYSTEMD_DIRECTORIES.map((directory) => `${root}${directory}/oomd.conf`).filter((path) => existsSync(path));
  return {
    settings: [...counting(main), ...pathsIn(root, 'oomd.conf.d', '.conf')],
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

/** Files in the order of their names. */
function pathsIn(root: string, below: string, end: string): readonly string[] {
  const directories = SYSTEMD_DIRECTORIES.map((parent) => `${root}${parent}/${below}`);
  const paths = directories.flatMap((directory) => namesIn(directory).map((name) => `${directory}/${name}`));
  return counting(paths.filter((path) => path.endsWith(end))).toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1));
}

function counting(paths: readonly string[]): readonly string[] {
  return countingFiles(paths.map((file) => ({ file }))).counting.map(({ file }) => file);
}

function namesIn(directory: string): readonly string[] {
  return attempt(() => readdirSync(directory)) ?? []; // most machines have none
}

/** '' of a file that cannot be read. */
function textIn(path: string): string {
  return attempt(() => readFileSync(path, 'utf8')) ?? '';
}
