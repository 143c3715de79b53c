import { pausedText } from '../core/message/pause-message.js';
import type { Observations } from '../core/signal/observation.js';
import { SIGNALS, type Signal } from '../core/signal/signal.js';
import { operandsOf } from '../core/threshold/threshold.js';
import type { Status } from './status.js';
import { withHint } from '../errors.js';

/** The answer of a probe, one sentence per line. */
export interface Probe {
  readonly ok: boolean;
  readonly lines: readonly string[];
}

const INTERVALS = 3n;
const MARGIN_NS = 2_000_000_000n;

const seconds = (ns: bigint): string => `${String(Math.round(Number(ns) / 1e8) / 10)} s`;

/** Alive while the last tick or pass is younger than three intervals and a margin. */
export function liveness(status: Status): Probe {
  const ageNs = status.sampleAgeNs();
  if (ageNs === undefined) return { ok: false, lines: ['the node has not been read yet'] };
  const allowedNs = INTERVALS * status.monitoringIntervalNs + MARGIN_NS;
  const ticked = `the last tick or pass was ${seconds(ageNs)} ago`;
  return ageNs <= allowedNs ? { ok: true, lines: [ticked] } : { ok: false, lines: [`${ticked}, more than ${seconds(allowedNs)}`] };
}

/**
 * Ready while every configured signal is readable and every essential notifier is armed. Other problems are lines that
 * begin with 'note: '.
 */
export function readiness(status: Status): Probe {
  const alive = liveness(status);
  const configured = new Set(status.thresholds.flatMap(operandsOf).map(({ signal }) => signal));
  const unread = SIGNALS.filter((signal) => configured.has(signal) && !isKnown(status.observations, signal)).map(
    (signal) => `${signal} cannot be read: ${status.observations.missing.get(signal) ?? 'no reading yet'}`,
  );
  const dead = status.notifierStates.filter(({ live }) => !live);
  const sentence = ({ mechanism, target, reason, hint }: (typeof dead)[number]): string =>
    withHint(`notifier ${mechanism} on ${target} is not live: ${reason ?? 'unknown'}`, hint);
  const { lasts, startSeconds } = status.shutdown;
  const problems = [
    ...(alive.ok ? [] : alive.lines),
    ...(status.safeMode === undefined ? [] : [`safe mode: ${status.safeMode}; nothing is evicted`]),
    ...status.pauses.filter(({ workload }) => workload === undefined).map(pausedText),
    ...(lasts
      ? [`the machine has been shutting down since ${new Date(startSeconds * 1_000).toISOString()}: evictd ends workloads and admits none`]
      : []),
    ...unread,
    ...dead.filter(({ essential }) => essential).map((state) => `${sentence(state)}; ${state.signal} is polled`),
  ];
  const notes = [
    ...(configured.size === 0 && alive.ok ? ['no threshold is configured'] : []),
    ...dead.filter(({ essential }) => !essential).map(sentence),
    ...status.pauses.filter(({ workload }) => workload !== undefined).map(pausedText),
    ...status.notifierStates.flatMap(({ mechanism, target, live, reason }) =>
      live && reason !== undefined ? [`notifier ${mechanism} on ${target} could not be moved to the new threshold: ${reason}`] : [],
    ),
    ...(status.shutdownDelayProblem === undefined
      ? []
      : [`a shutdown of the machine does not wait for evictd: ${status.shutdownDelayProblem}`]),
    ...status.sourceProblems.map(({ code, message, hint }) => `${withHint(message, hint)} [${code}]`),
  ];
  return { ok: problems.length === 0, lines: [...problems, ...notes.map((note) => `note: ${note}`)] };
}

/** Read, known to be absent, or being read. */
function isKnown({ observed, absent, pending }: Observations, signal: Signal): boolean {
  return observed.has(signal) || absent?.has(signal) === true || pending?.has(signal) === true;
}
