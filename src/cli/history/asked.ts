import { compileGlob } from '../../core/glob.js';
import { resultOf, signalOf, timeOf, typeOf, workloadOf, isPart, type HistoryEvent } from './history-event.js';

/** What is asked of the history. Empty lists and undefined: all. */
export interface Asked {
  /** As the journal writes time: UTC, milliseconds. */
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly workloads: readonly string[];
  readonly signals: readonly string[];
  readonly results: readonly string[];
  readonly types: readonly string[];
  /** Also what belongs to the course of things: thresholds, conditions, starts and stops. */
  readonly all: boolean;
}

/** Of interest only where somebody asks for them: much of it happens in every shortage, and says nothing of whom it hit. */
const COURSE: ReadonlySet<string> = new Set([
  'start',
  'stop',
  'reload',
  'threshold',
  'condition',
  'reclaim',
  'reclaimed',
  'filesystems',
  'torn',
]);

/** The parts of an eviction are shown as one. */
export function typesOf(types: readonly string[]): readonly string[] {
  return types.map((type) => (isPart(type) ? 'eviction' : type));
}

/** Whether an event is one of those asked for. */
export function matcherOf({ since, until, workloads, signals, results, types, all }: Asked): (event: HistoryEvent) => boolean {
  const globs = workloads.map(compileGlob);
  const isListed = (list: readonly string[], value: string | undefined): boolean =>
    list.length === 0 || (value !== undefined && list.includes(value));
  return (event) => {
    const time = timeOf(event);
    if ((since !== undefined && time < since) || (until !== undefined && time > until)) return false;
    const type = typeOf(event);
    // A result is that of an eviction, whatever types are shown otherwise.
    if (types.length > 0 ? !types.includes(type) : !all && COURSE.has(type)) return false;
    if (!isListed(signals, signalOf(event)) || !isListed(results, resultOf(event))) return false;
    if (globs.length === 0) return true;
    const { name, path } = workloadOf(event) ?? {};
    return globs.some((glob) => [name, path].some((text) => text !== undefined && glob.test(text)));
  };
}

/**
 * Whether the line of this time and type may matter to anybody: what cannot is not read any further. An outcome that came later belongs to a decision that
 * came in time; where a run begins or ends decides what became of those without one.
 */
export function relevanceOf({ since, until, types, all }: Asked): (time: string, type: string) => boolean {
  return (time, type) => {
    if (since !== undefined && time < since) return false;
    if (type === 'start' || type === 'stop') return true;
    if (until !== undefined && time > until && (type === 'decision' || !isPart(type))) return false;
    if (types.length > 0) return types.includes(isPart(type) ? 'eviction' : type);
    return all || !COURSE.has(type);
  };
}
