import * as z from 'zod/mini';
import {
  COMPARATORS,
  type Comparator,
  type LadderStep,
  type LadderStepKind,
  type ThrottleLimit,
} from '../../core/policy/configured-policy.js';
import { meantAmount } from '../../core/quantity/meant-amount.js';
import { isRecord } from '../value/document.js';
import { shaped } from '../value/json-shape.js';
import { flag, parsed, refuse, text } from '../value/scalar.js';
import { capacityText, durationText, pathText, TextError } from '../value/value-text.js';
import { NS_PER_SECOND } from '../../core/quantity/duration.js';

const NS_PER_MINUTE = 60n * NS_PER_SECOND;
const NS_PER_HOUR = 60n * NS_PER_MINUTE;
const DEFAULT_NS = 10n * NS_PER_SECOND;
const DEFAULT_THROTTLE_NS = 30n * NS_PER_SECOND;

const duration = (least: bigint, most: bigint) => z.optional(parsed((input) => durationText(input, least, most)));

const comparator = z.enum(COMPARATORS);

/** One name, or a list. */
const by = shaped(
  z.pipe(
    z.transform((input: unknown, payload) => {
      if (typeof input !== 'string') return input;
      const names = input.split(/[\s,]+/).filter((name) => name !== '');
      if (names.length < 2) return [input];
      const message = `several names in one text: ${JSON.stringify(input)}`;
      return refuse(payload, input, 'EVICTD_CONFIG_TYPE', message, `write a list: [${names.join(', ')}]`);
    }),
    z.pipe(
      z.array(comparator),
      z.transform((names, payload): readonly Comparator[] => {
        if (names.length === 0) return refuse(payload, names, 'EVICTD_CONFIG_MISSING', 'is empty', '');
        const twice = names.find((name, index) => names.indexOf(name) !== index);
        if (twice === undefined) return names;
        return refuse(payload, names, 'EVICTD_CONFIG_VALUE', `${twice} occurs twice`, 'remove the second one');
      }),
    ),
  ),
  { also: [{ type: 'string', enum: COMPARATORS }] },
);

const command = z.pipe(
  z.array(text),
  z.transform((argv, payload): readonly string[] => {
    const [program] = argv;
    const hint = 'write it as a list: [/usr/local/bin/drop-caches, --all]';
    if (program === undefined) return refuse(payload, argv, 'EVICTD_CONFIG_MISSING', 'is empty', hint);
    if (!program.startsWith('/')) {
      const message = `${JSON.stringify(program)} is not an absolute path`;
      return refuse(payload, argv, 'EVICTD_CONFIG_PATH', message, 'write the absolute path of the program');
    }
    if (argv.some((word) => word.includes('\0')))
      return refuse(payload, argv, 'EVICTD_CONFIG_VALUE', 'has a NUL character', 'remove it: no argument of a program can have one');
    return [pathText(program, '/usr/local/bin/drop-caches'), ...argv.slice(1)];
  }),
);

/** Bytes above 0, with a unit as in conditions: 200 may be meant as 200 MiB, and 200m is a fifth of a byte. */
function amountText(input: string): bigint {
  const bytes = capacityText(input);
  if (/(?:[kMGTPE]|[KMGTPE]i)$/.test(input)) return bytes;
  const [number] = /^[\d.]+/.exec(input) ?? ['200'];
  const hint = `write ${number}Mi, ${number}Ki or ${number}k`;
  throw new TextError(
    'EVICTD_CONFIG_QUANTITY',
    `bytes need a unit: ${input}`,
    (input.endsWith('m') ? meantAmount(input) : undefined) ?? hint,
  );
}

/** `usage`, an amount, or a percentage of the usage. */
function throttleText(input: string): ThrottleLimit {
  if (input === 'usage') return { kind: 'usage' };
  const [, percent] = /^(\d{1,2}(?:\.\d{1,7})?)%\s+of\s+usage$/.exec(input) ?? [];
  if (percent !== undefined && Number(percent) > 0) return { kind: 'share', ratio: Number(percent) / 100 };
  const accepted = 'write usage, an amount (500Mi), or a percentage below 100 of the usage (90% of usage)';
  if (input.includes('%') || input.includes('usage'))
    throw new TextError('EVICTD_CONFIG_VALUE', `not a limit: ${JSON.stringify(input)}`, accepted);
  return { kind: 'quantity', bytes: amountText(input) };
}

const unit = z.enum(['workload', 'process']);

const stepSettings = {
  notify: z.strictObject({}),
  run: shaped(z.strictObject({ command, timeout: duration(NS_PER_SECOND, NS_PER_HOUR) }), {
    also: [{ type: 'array', items: { type: ['string', 'number'] } }],
  }),
  reclaim: z.strictObject({ memory: parsed(amountText), within: duration(NS_PER_SECOND, NS_PER_HOUR) }),
  throttle: z.strictObject({ memoryHigh: z.optional(parsed(throttleText)), for: duration(NS_PER_SECOND, NS_PER_HOUR) }),
  freeze: z.strictObject({ for: duration(NS_PER_SECOND, 10n * NS_PER_MINUTE) }),
  stop: z.strictObject({ grace: duration(0n, NS_PER_HOUR), by: z.optional(by), unit: z.optional(unit) }),
  kill: z.strictObject({ by: z.optional(by), unit: z.optional(unit), recursive: z.optional(flag) }),
};

const stepMap = z.strictObject({
  notify: z.optional(stepSettings.notify),
  run: z.optional(stepSettings.run),
  reclaim: z.optional(stepSettings.reclaim),
  throttle: z.optional(stepSettings.throttle),
  freeze: z.optional(stepSettings.freeze),
  stop: z.optional(stepSettings.stop),
  kill: z.optional(stepSettings.kill),
});

type StepMap = z.output<typeof stepMap>;

export const STEP_KINDS = Object.keys(stepSettings) as readonly LadderStepKind[];

const STEPS: { readonly [K in LadderStepKind]: (settings: NonNullable<StepMap[K]>) => Extract<LadderStep, { readonly kind: K }> } = {
  notify: () => ({ kind: 'notify' }),
  run: ({ command, timeout = DEFAULT_NS }) => ({ kind: 'run', command, timeoutNs: timeout }),
  reclaim: ({ memory, within = DEFAULT_NS }) => ({ kind: 'reclaim', memoryBytes: memory, withinNs: within }),
  throttle: ({ memoryHigh = { kind: 'usage' }, for: held = DEFAULT_THROTTLE_NS }) => ({ kind: 'throttle', memoryHigh, forNs: held }),
  freeze: ({ for: held = DEFAULT_NS }) => ({ kind: 'freeze', forNs: held }),
  stop: ({ grace = DEFAULT_NS, by: order = [], unit: ends = 'workload' }) => ({ kind: 'stop', graceNs: grace, by: order, unit: ends }),
  kill: ({ by: order = [], unit: ends = 'workload', recursive = false }) => ({ kind: 'kill', by: order, unit: ends, recursive }),
};

/** The short forms: a name alone, and `run: [PROGRAM, ARGUMENT]`. */
function longForm(input: unknown): unknown {
  if (typeof input === 'string') return { [input]: {} };
  return isRecord(input) && Array.isArray(input.run) ? { ...input, run: { command: input.run as unknown } } : input;
}

/** An entry of `then`. */
export const ladderStep = shaped(
  z.pipe(
    z.transform(longForm),
    z.pipe(
      stepMap,
      z.transform((entry, payload): LadderStep => {
        const [first, second] = STEP_KINDS.filter((kind) => entry[kind] !== undefined);
        if (payload.issues.length > 0) return z.NEVER;
        if (first === undefined) return refuse(payload, entry, 'EVICTD_CONFIG_MISSING', 'names no step', '');
        if (second !== undefined) {
          const message = `cannot be combined with ${first}: an entry is one step`;
          return refuse(payload, entry, 'EVICTD_CONFIG_VALUE', message, 'write two entries, each with its own "- "', [second]);
        }
        if (entry.kill?.unit === 'process' && entry.kill.recursive === true) {
          const message = 'cannot be combined with recursive: processes are compared directly, not cgroup by cgroup';
          return refuse(payload, entry, 'EVICTD_CONFIG_VALUE', message, 'remove recursive', ['kill', 'unit']);
        }
        const make = STEPS[first] as (settings: StepMap[LadderStepKind]) => LadderStep;
        return make(entry[first]);
      }),
    ),
  ),
  { also: [{ type: 'string', enum: ['notify', 'throttle', 'freeze', 'stop', 'kill'] }] },
);
