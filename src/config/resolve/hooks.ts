import * as z from 'zod/mini';
import type { HookCommand, HooksConfig } from '../../core/hook/hook.js';
import { shaped } from '../value/json-shape.js';
import { flag, parsed, refuse, text } from '../value/scalar.js';
import { durationText } from '../value/value-text.js';
import { NS_PER_MS, NS_PER_SECOND } from '../../core/quantity/duration.js';

const DEADLINE = { least: NS_PER_MS, most: 500n * NS_PER_MS, otherwise: 200n * NS_PER_MS };
const TIMEOUT = { least: NS_PER_SECOND, most: 600n * NS_PER_SECOND, otherwise: 10n * NS_PER_SECOND };

/** The deadline of `prekill` if preEvict is not configured. */
export const DEADLINE_NS = DEADLINE.otherwise;

const deadline = z.optional(parsed((input) => durationText(input, DEADLINE.least, DEADLINE.most)));
const timeout = z.optional(parsed((input) => durationText(input, TIMEOUT.least, TIMEOUT.most)));

/** A list stands for an object with only `command`. */
const orList = <T extends z.core.$ZodType>(object: T) =>
  shaped(
    z.pipe(
      z.transform((input: unknown) => (Array.isArray(input) ? { command: input as readonly unknown[] } : input)),
      object,
    ),
    { also: [{ type: 'array', items: { type: 'string' } }] },
  );

/** Checks the command, which must name its program by an absolute path. */
function argvOf(command: readonly string[], payload: Parameters<typeof refuse>[0], entry: unknown): readonly string[] {
  const [program] = command;
  const hint = 'write a list: [/usr/local/bin/before-eviction, --brief]';
  if (program === undefined) return refuse(payload, entry, 'EVICTD_CONFIG_MISSING', 'is missing', hint, ['command']);
  if (command.some((word) => word.includes('\0'))) {
    return refuse(payload, entry, 'EVICTD_CONFIG_VALUE', 'has a NUL character', 'remove it: no argument of a program can have one', [
      'command',
    ]);
  }
  if (!program.startsWith('/')) {
    return refuse(payload, program, 'EVICTD_CONFIG_PATH', 'is not an absolute path', 'write the absolute path of the program', ['command']);
  }
  return command;
}

const preEvict = orList(
  z.pipe(
    z.strictObject({ command: z.optional(z.array(text)), timeout, deadline }),
    z.transform(({ command = [], ...entry }, payload): NonNullable<HooksConfig['preEvict']> => {
      const argv = argvOf(command, payload, entry);
      return { argv, timeoutNs: entry.timeout ?? TIMEOUT.otherwise, deadlineNs: entry.deadline ?? DEADLINE.otherwise };
    }),
  ),
);

const postEvict = orList(
  z.pipe(
    z.strictObject({ command: z.optional(z.array(text)), timeout }),
    z.transform(({ command = [], ...entry }, payload): HookCommand => {
      return { argv: argvOf(command, payload, entry), timeoutNs: entry.timeout ?? TIMEOUT.otherwise };
    }),
  ),
);

const programs = { preEvict: z.optional(preEvict), postEvict: z.optional(postEvict) };

export const hooksSchema = z.strictObject({ ...programs, prekill: z.optional(flag) });
export const policyHooksSchema = z.strictObject(programs);
