import { whenOperands, type Operands } from '../../config/resolve/listed-thresholds.js';
import { suggestion } from '../../config/value/report.js';
import { TextError } from '../../config/value/value-text.js';
import type { Observations } from '../../core/signal/observation.js';
import { isPressure, isSignal, operatorOf, SIGNAL_FACTS, SIGNALS, type Signal } from '../../core/signal/signal.js';
import { operandsOf, operandText, resolve, type Operand, type Threshold, type ThresholdKind } from '../../core/threshold/threshold.js';
import { UsageError } from '../../errors.js';

/** Lists with commas: a value for each signal, in the same order. */
export interface SignalFlags {
  readonly signal?: string;
  readonly warning?: string;
  readonly critical?: string;
}

const EXAMPLE = 'evictd check --signal memory.available --warning 10% --critical 5%';
/** A large capacity, for percentages. */
const SOME_CAPACITY = 1n << 50n;
/** An amount of at most this many bytes is probably meant as a percentage. */
const WHOLE_PERCENT = 100n;

/**
 * The thresholds of `--warning` (soft) and `--critical` (hard), which replace those of the configuration.
 *
 * @throws UsageError
 */
export function signalThresholds({ signal, warning, critical }: SignalFlags): Threshold[] {
  const given = warning === undefined ? '--critical' : '--warning';
  if (signal === undefined) throw new UsageError('EVICTD_USAGE', `${given} needs --signal`, { hint: EXAMPLE });
  const names = listOf(signal);
  const unknown = names.find((name) => !isSignal(name));
  if (unknown !== undefined) {
    const hint = suggestion(unknown, SIGNALS);
    throw new UsageError('EVICTD_CONFIG_SIGNAL', `--signal: ${JSON.stringify(unknown)} is not a signal`, { hint });
  }
  const soft = warning === undefined ? undefined : operandsFrom('--warning', names.filter(isSignal), listOf(warning));
  const hard = critical === undefined ? undefined : operandsFrom('--critical', names.filter(isSignal), listOf(critical));
  if (!soft && !hard) throw new UsageError('EVICTD_USAGE', '--signal needs --warning or --critical', { hint: EXAMPLE });
  if (soft && hard) refuseBeyond(soft, hard);
  return [...(soft ? [thresholdFrom(soft, 'soft')] : []), ...(hard ? [thresholdFrom(hard, 'hard')] : [])];
}

/** Only the signals of the thresholds. One that this node does not have counts as unreadable. */
export function narrowed({ observed, missing, absent, pending }: Observations, thresholds: readonly Threshold[]): Observations {
  const named = new Set(thresholds.flatMap(operandsOf).map(({ signal }) => signal));
  const only = <T>(all: ReadonlyMap<Signal, T> = new Map()): [Signal, T][] => [...all].filter(([signal]) => named.has(signal));
  return { observed: new Map(only(observed)), missing: new Map([...only(missing), ...only(absent), ...only(pending)]) };
}

function listOf(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

function operandsFrom(flag: string, names: readonly Signal[], values: readonly string[]): Operands {
  const refuse = (code: string, message: string, hint: string): never => {
    throw new UsageError(code, `${flag}: ${message}`, { hint });
  };
  if (values.length !== names.length) {
    const counts = `${String(values.length)} value${values.length === 1 ? '' : 's'} for ${String(names.length)} of --signal`;
    return refuse('EVICTD_USAGE', counts, 'separate them with commas, a value for each signal');
  }
  const strange = values.find((value) => /[&<>=|]/.test(value));
  if (strange !== undefined)
    return refuse('EVICTD_USAGE', `${JSON.stringify(strange)} is not a value`, 'write the value only: 10% or 500Mi');
  try {
    const operands = whenOperands(names.map((name, index) => `${name}${operatorOf(name)}${values[index] ?? ''}`).join('&'));
    for (const operand of operands) refuseUnit(operand);
    return operands;
  } catch (error) {
    if (error instanceof TextError) return refuse(error.code, error.message, error.hint);
    throw error;
  }
}

/** @throws TextError  bytes for what has another unit, or a percentage without its sign */
function refuseUnit({ signal, value }: Operand): void {
  if (value.kind === 'percentage' || isPressure(signal)) return;
  const { text, format } = value.quantity;
  const { unit } = SIGNAL_FACTS[signal];
  if (unit !== 'bytes' && format === 'BinarySI') {
    throw new TextError(
      'EVICTD_CONFIG_THRESHOLD',
      `${signal}: "${text}" is an amount of bytes, and it counts ${unit}`,
      'write 1000 or 10%',
    );
  }
  if (unit === 'bytes' && resolve(value, 0n) <= WHOLE_PERCENT) {
    throw new TextError('EVICTD_CONFIG_THRESHOLD', `${signal}: "${text}" is an amount of bytes`, `did you mean ${text}%?`);
  }
}

/** An amount and a percentage are not compared: that needs the capacity. */
function refuseBeyond(soft: Operands, hard: Operands): void {
  for (const early of soft) {
    const late = hard.find(({ signal, value }) => signal === early.signal && value.kind === early.value.kind);
    if (late === undefined) continue;
    const [warning, critical] = [resolve(early.value, SOME_CAPACITY), resolve(late.value, SOME_CAPACITY)];
    if (operatorOf(early.signal) === '<' ? warning >= critical : warning <= critical) continue;
    const message = `the warning ${operandText(early)} is beyond the critical ${operandText(late)}, so that it would never be seen`;
    throw new UsageError('EVICTD_CHECK_ORDER', message, { hint: 'exchange the values of --warning and --critical' });
  }
}

/** Pressure and joined signals are entries of a list, as in the configuration. A map's threshold is soft by its grace period. */
function thresholdFrom([starved, ...also]: Operands, kind: ThresholdKind): Threshold {
  const isAmount = also.length === 0 && !isPressure(starved.signal);
  const own = { ...starved, minReclaim: undefined, gracePeriodNs: kind === 'soft' ? 1n : 0n };
  return isAmount ? own : { ...own, kind, ...(also.length > 0 && { also }) };
}
