import { labelKeyErrors, labelValueErrors } from '../name/label.js';

/** `NoSchedule`: nothing new starts. `PreferNoSchedule`: it starts with a warning. `NoExecute`: what runs is evicted, too. */
export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;
export type TaintEffect = (typeof TAINT_EFFECTS)[number];

/** v1.Taint. A node has at most one with the same key and effect. */
export interface Taint {
  readonly key: string;
  /** '': none. */
  readonly value: string;
  readonly effect: TaintEffect;
}

export class TaintError extends Error {
  override readonly name = 'TaintError';

  constructor(
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

/** 'KEY=VALUE:EFFECT', or without a value 'KEY:EFFECT' (v1.Taint, ToString). */
export function taintText({ key, value, effect }: Taint): string {
  return value === '' ? `${key}:${effect}` : `${key}=${value}:${effect}`;
}

/**
 * Reads 'KEY=VALUE:EFFECT' or 'KEY:EFFECT' (kubectl: pkg/util/taints, parseTaint, v1.36.2).
 *
 * @throws TaintError
 */
export function parseTaint(text: string): Taint {
  const [, key, value = '', word] = /^([^:=]*)(?:=([^:=]*))?:([^:=]*)$/.exec(text) ?? [];
  if (key === undefined || word === undefined) {
    throw new TaintError(`not a taint: ${JSON.stringify(text)}`, 'write KEY=VALUE:EFFECT or KEY:EFFECT: maintenance=yes:NoSchedule');
  }
  const effect = TAINT_EFFECTS.find((each) => each === word);
  if (effect === undefined) {
    const hint = TAINT_EFFECTS.find((each) => each.toLowerCase() === word.toLowerCase());
    throw new TaintError(
      `unknown taint effect ${JSON.stringify(word)} in ${JSON.stringify(text)}`,
      hint === undefined ? `accepted: ${TAINT_EFFECTS.join(', ')}` : `did you mean ${hint}?`,
    );
  }
  const [wrongKey] = labelKeyErrors(key);
  if (wrongKey !== undefined) throw new TaintError(`invalid taint key ${JSON.stringify(key)}: ${wrongKey}`, 'write a key as maintenance');
  const [wrongValue] = labelValueErrors(value);
  if (wrongValue !== undefined) {
    throw new TaintError(`invalid taint value ${JSON.stringify(value)}: ${wrongValue}`, 'write a value as yes, or none');
  }
  return { key, value, effect };
}

/** A node has one taint with a key and an effect. */
export function isSameTaint(one: Pick<Taint, 'key' | 'effect'>, other: Pick<Taint, 'key' | 'effect'>): boolean {
  return one.key === other.key && one.effect === other.effect;
}

/** An effect that is left out: all. */
export type TaintChange = { readonly set: Taint } | { readonly remove: { readonly key: string; readonly effect?: TaintEffect } };

/**
 * Reads a change: a taint, or 'KEY-', 'KEY:EFFECT-' or 'KEY=VALUE:EFFECT-' to remove it (kubectl: pkg/util/taints,
 * ParseTaints, v1.36.2).
 *
 * @throws TaintError
 */
export function parseTaintChange(text: string): TaintChange {
  if (!text.endsWith('-')) return { set: parseTaint(text) };
  const meant = text.slice(0, -1);
  if (meant.includes(':')) {
    const { key, effect } = parseTaint(meant);
    return { remove: { key, effect } };
  }
  const [wrongKey] = labelKeyErrors(meant);
  if (wrongKey !== undefined)
    throw new TaintError(`invalid taint key ${JSON.stringify(meant)}: ${wrongKey}`, 'write KEY- to remove a taint');
  return { remove: { key: meant } };
}
