import { join } from 'node:path';
import type { Places } from './places.js';
import { fileText } from '../install-step.js';
import { wordsOf } from './unit-line.js';
import { SERVICE } from './units.js';

/** Whether `evictd install` wrote the file. */
export function isOurs(text: string): boolean {
  return text.startsWith('# Written by `evictd install`');
}

/** The configuration file of the installed service; undefined: not installed, or the default. */
export function installedConfigFile({ units, configFile }: Places): string | undefined {
  const unit = fileText(join(units, SERVICE));
  if (typeof unit !== 'object' || !isOurs(unit.text)) return undefined;
  const words = wordsOf(/^ExecStart=(.*)$/m.exec(unit.text)?.[1] ?? '');
  const at = words.indexOf('--config');
  const named = at === -1 ? undefined : words[at + 1];
  return named === configFile ? undefined : named;
}
