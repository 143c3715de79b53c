import * as z from 'zod/mini';
import { AGED_STEPS, type ReclaimStep } from '../../core/reclaim/reclaim-step.js';
import { isCollection } from '../../core/signal/layout.js';
import { DISK_SIGNALS } from '../../core/signal/signal.js';
import type { Compatibility } from '../../core/decide/departures.js';
import type { ListItem } from '../value/document.js';
import type { Report } from '../value/report.js';
import { parsed, refuse, text } from '../value/scalar.js';
import { bytesText, capacityText, durationText, MAX_DURATION_NS, TextError } from '../value/value-text.js';
import { NS_PER_SECOND } from '../../core/quantity/duration.js';

const STEPS = ['journald', 'package-cache', ...AGED_STEPS, 'command'] as const;

const NS_PER_MINUTE = 60n * NS_PER_SECOND;
const TIMEOUT = { least: NS_PER_SECOND, most: 60n * NS_PER_MINUTE, otherwise: NS_PER_MINUTE };
const MEMORY_MAX_BYTES = 256n << 20n;
const DEFAULT_KEEP_BYTES = 100n << 20n;

/** Part of a unit's name. */
const name = parsed((input) => {
  if (isCollection(input))
    throw new TextError('EVICTD_CONFIG_VALUE', `is reserved for a step of container runtimes: ${input}`, 'choose another name');
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/.test(input)) return input;
  const hint = 'use at most 40 letters, digits, - and _, beginning with a letter or digit';
  throw new TextError('EVICTD_CONFIG_VALUE', `not a valid step name: ${JSON.stringify(input)}`, hint);
});

/** The keys of a step besides `step`, `name`, `timeout` and `memoryMax`. */
function ownKeys(step: (typeof STEPS)[number]): readonly string[] {
  if (step === 'journald') return ['keep'];
  if (step === 'package-cache') return [];
  return step === 'command' ? ['command', 'signals'] : ['olderThan'];
}

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
      const hint = own.length === 0 ? 'remove it' : `accepted: ${own.join(' and ')}`;
      return refuse(payload, entry[key], 'EVICTD_CONFIG_VALUE', `is not a key of step: ${step}`, hint, [key]);
    }
    const { name: given = step, timeout = TIMEOUT.otherwise, memoryMax = MEMORY_MAX_BYTES } = entry;
    const common = { name: given, timeoutNs: timeout, memoryMaxBytes: memoryMax };
    const missing = (key: string, hint: string) => refuse(payload, entry, 'EVICTD_CONFIG_MISSING', 'is missing', hint, [key]);
    switch (step) {
      case 'journald':
        return { ...common, kind: step, keepBytes: entry.keep ?? DEFAULT_KEEP_BYTES };
      case 'package-cache':
        return { ...common, kind: step };
      case 'command': {
        const { command = [], signals = [] } = entry;
        if (entry.name === undefined) return missing('name', 'name: the name of the step in the journal');
        if (command.length === 0) return missing('command', 'write it as a list: [/usr/bin/docker, system, prune, --force]');
        if (signals.length === 0) return missing('signals', 'list the signals that the command may free: [nodefs.available]');
        if (command[0]?.startsWith('/') !== true) {
          return refuse(payload, command[0], 'EVICTD_CONFIG_PATH', 'is not an absolute path', 'write the absolute path of the program', [
            'command',
          ]);
        }
        return { ...common, kind: step, command, signals };
      }
      default:
        if (entry.olderThan === undefined) return missing('olderThan', 'set the minimum age of files to remove: 24h');
        return { ...common, kind: step, olderThanNs: entry.olderThan };
    }
  }),
);

/** Reports duplicate names, and steps with compatibility: kubelet. */
export function distinctSteps(
  items: readonly ListItem<ReclaimStep>[],
  compatibility: Compatibility,
  report: Report,
): readonly ListItem<ReclaimStep>[] {
  const names = new Set<string>();
  for (const { value, layer, path } of items) {
    if (compatibility === 'kubelet') {
      const message = 'reclaim: the kubelet has no such key, and compatibility is kubelet';
      report.issue('EVICTD_CONFIG_PROFILE', message, layer.at(path), 'remove it, or set compatibility: evictd');
    }
    if (names.has(value.name)) {
      const message = `duplicate name of a reclaim step: ${value.name}`;
      report.issue('EVICTD_CONFIG_VALUE', message, layer.at(path), 'rename one of them');
    }
    names.add(value.name);
  }
  return items;
}
