import * as z from 'zod/mini';
import { AGED_STEPS, type ReclaimStep } from '../core/reclaim-step.js';
import { isCollection } from '../core/layout.js';
import { DISK_SIGNALS } from '../core/signal.js';
import type { ListItem } from './layered.js';
import type { Profile } from './profile.js';
import type { Report } from './report.js';
import { parsed, refuse, text } from './scalar.js';
import { bytesText, capacityText, durationText, TextError } from './text.js';

const STEPS = ['journald', 'package-cache', ...AGED_STEPS, 'command'] as const;
export const RECLAIM_KEYS = ['step', 'name', 'keep', 'olderThan', 'command', 'signals', 'timeout', 'memoryMax'] as const;

const NS_PER_SECOND = 1_000_000_000n;
const NS_PER_MINUTE = 60n * NS_PER_SECOND;
const MAX_DURATION_NS = 2n ** 63n - 1n;
const TIMEOUT = { least: NS_PER_SECOND, most: 60n * NS_PER_MINUTE, otherwise: NS_PER_MINUTE };
const MEMORY_MAX_BYTES = 256n << 20n;
/** What journald keeps where nobody says how much. */
const KEEP_BYTES = 100n << 20n;

/** It becomes part of a unit's name. */
const name = parsed((input) => {
  if (isCollection(input))
    throw new TextError('EVICTD_CONFIG_VALUE', `is the name of what container runtimes collect: ${input}`, 'give it another');
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/.test(input)) return input;
  const hint = 'letters, digits, - and _, beginning with a letter or digit, at most 40';
  throw new TextError('EVICTD_CONFIG_VALUE', `not the name of a step: ${JSON.stringify(input)}`, hint);
});

/** Which of the keys a step of its own takes; `step`, `name`, `timeout` and `memoryMax` are for all. */
function ownKeys(step: (typeof STEPS)[number]): readonly (typeof RECLAIM_KEYS)[number][] {
  if (step === 'journald') return ['keep'];
  if (step === 'package-cache') return [];
  return step === 'command' ? ['command', 'signals'] : ['olderThan'];
}

/** An entry of `reclaim`. */
export const reclaimEntry = z.pipe(
  z.strictObject({
    step: z.enum(STEPS),
    name: z.optional(name),
    keep: z.optional(parsed(bytesText)),
    olderThan: z.optional(parsed((input) => durationText(input, NS_PER_MINUTE, MAX_DURATION_NS))),
    command: z.optional(z.array(text)),
    signals: z.optional(z.array(z.enum(DISK_SIGNALS))),
    timeout: z.optional(parsed((input) => durationText(input, TIMEOUT.least, TIMEOUT.most))),
    memoryMax: z.optional(parsed(capacityText)),
  }),
  z.transform((entry, payload): ReclaimStep => {
    const { step } = entry;
    const own = ownKeys(step);
    for (const key of ['keep', 'olderThan', 'command', 'signals'] as const) {
      if (entry[key] === undefined || own.includes(key)) continue;
      const hint = own.length === 0 ? 'remove it' : `it takes ${own.join(' and ')}`;
      return refuse(payload, entry[key], 'EVICTD_CONFIG_VALUE', `is no key of step: ${step}`, hint, [key]);
    }
    const { name: given = step, timeout = TIMEOUT.otherwise, memoryMax = MEMORY_MAX_BYTES } = entry;
    const common = { name: given, timeoutNs: timeout, memoryMaxBytes: memoryMax };
    const missing = (key: string, hint: string) => refuse(payload, entry, 'EVICTD_CONFIG_MISSING', 'is missing', hint, [key]);
    switch (step) {
      case 'journald':
        return { ...common, kind: step, keepBytes: entry.keep ?? KEEP_BYTES };
      case 'package-cache':
        return { ...common, kind: step };
      case 'command': {
        const { command = [], signals = [] } = entry;
        if (entry.name === undefined) return missing('name', 'the journal has to call it something');
        if (command.length === 0) return missing('command', 'write it as a list: [/usr/bin/docker, system, prune, --force]');
        if (signals.length === 0) return missing('signals', 'which it may free, as a list: [nodefs.available]');
        if (command[0]?.startsWith('/') !== true) {
          return refuse(payload, command[0], 'EVICTD_CONFIG_PATH', 'is not an absolute path', 'write the program from the top', [
            'command',
          ]);
        }
        return { ...common, kind: step, command, signals };
      }
      default:
        if (entry.olderThan === undefined) return missing('olderThan', 'how old a file must be to be removed: 24h');
        return { ...common, kind: step, olderThanNs: entry.olderThan };
    }
  }),
);

/** They are evictd's own, and each has a name of its own. */
export function distinctSteps(
  items: readonly ListItem<ReclaimStep>[],
  { compatibility }: Profile,
  report: Report,
): readonly ListItem<ReclaimStep>[] {
  const names = new Set<string>();
  for (const { value, layer, path } of items) {
    if (compatibility === 'kubelet') {
      const message = "reclaim is evictd's own: a kubelet has no such steps";
      report.issue('EVICTD_CONFIG_PROFILE', message, layer.at(path), 'remove it, or write compatibility: evictd');
    }
    if (names.has(value.name)) {
      const message = `two steps of reclaim are called ${value.name}`;
      report.issue('EVICTD_CONFIG_VALUE', message, layer.at(path), 'give one of them another name');
    }
    names.add(value.name);
  }
  return items;
}
