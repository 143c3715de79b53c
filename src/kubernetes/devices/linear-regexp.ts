import { setFlagsFromString } from 'node:v8';
import { EvaluationError } from '@marcbachmann/cel-js';
import { messageOf } from '../../errors.js';

/** Means another thing in RE2, the language of CEL, or none in JavaScript without the flag u. */
const OTHER_IN_RE2 = /\\[AaCEGQZz]|\\[pP]|\[\[:|\(\?(?!:)/;

const known = new Map<string, RegExp>();

/**
 * A regular expression that V8 executes in linear time, as RE2 does: neither a pattern nor a text can keep the program
 * busy.
 *
 * @throws EvaluationError  if the pattern is invalid, or not one of those that V8 can execute so
 */
export function linearRegExp(pattern: string): RegExp {
  const found = known.get(pattern) ?? made(pattern);
  known.set(pattern, found);
  return found;
}

function made(pattern: string): RegExp {
  if (OTHER_IN_RE2.test(pattern)) throw new EvaluationError(`matches(${JSON.stringify(pattern)}): this form is not supported`);
  const linear = 'l'; // V8's own flag
  setFlagsFromString('--enable-experimental-regexp-engine');
  try {
    return new RegExp(pattern, linear);
  } catch (error) {
    throw new EvaluationError(`matches(${JSON.stringify(pattern)}): ${messageOf(error)}`);
  }
}
