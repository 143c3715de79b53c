import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type OomdSettings, type OomRule, readOomdSettings, readOomRule } from '../../../core/systemd/oomd-settings.js';

/** In order of precedence (oomd.conf(5)). */
const DIRECTORIES = ['/etc/systemd', '/run/systemd', '/usr/local/lib/systemd', '/usr/lib/systemd'];

/** What the files of systemd-oomd say. */
export interface OomdFiles {
  readonly settings: OomdSettings;
  readonly rules: readonly OomRule[];
}

/** @param root  prefix of the files; '': the machine's */
export function readOomdFiles(root = ''): OomdFiles {
  const main = DIRECTORIES.map((directory) => textIn(`${root}${directory}/oomd.conf`)).find((text) => text !== undefined);
  const settings = readOomdSettings([main ?? '', ...filesIn(root, 'oomd.conf.d', '.conf').map(({ text }) => text)]);
  const rules = filesIn(root, 'oomd/rules.d', '.oomrule').flatMap(({ name, text }) => readOomRule(name, text) ?? []);
  return { settings, rules };
}

/** By name: of files with the same name the one in the first directory counts, also if it is empty (/dev/null). */
function filesIn(root: string, below: string, end: string): readonly { readonly name: string; readonly text: string }[] {
  const files = new Map<string, string>();
  for (const directory of DIRECTORIES.map((parent) => `${root}${parent}/${below}`)) {
    for (const name of namesIn(directory)) if (name.endsWith(end) && !files.has(name)) files.set(name, `${directory}/${name}`);
  }
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, path]) => ({ name: basename(name, end), text: textIn(path) ?? '' }));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // most machines have none
  }
}

function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
