import type { LoadedConfig } from '../../config/config.js';
import type { TimedPause } from '../../core/message/pause-message.js';
import { currentRanking, rankedSignal, type RankingState } from '../../core/rank/current-ranking.js';
import type { Candidates } from '../../core/workload/workload.js';
import type { ApiAnswer } from '../../http/route.js';
import { signalParameter } from '../../http/signal-parameter.js';
import { explainNow } from './explain-now.js';
import { findWorkload } from './find-workload.js';
import { settingsIn } from './settings.js';

/** What a running evictd explains itself from. */
export interface RunningExplanation {
  /** @throws UnavailableError  there was no step yet */
  readonly standing: () => RankingState;
  readonly candidates: () => Candidates;
  readonly node: string;
  readonly pauses: () => readonly TimedPause[];
  readonly loaded: () => LoadedConfig;
}

/** How many are measured and judged, as for a status; all of them only if the workload comes after these. */
const JUDGED = 50;

/** GET /api/v1/explain. @throws UsageError, InputError, UnavailableError */
export function getExplain(query: URLSearchParams, { standing, candidates, node, pauses, loaded }: RunningExplanation): ApiAnswer {
  const read = standing();
  const signal = rankedSignal(read.state, signalParameter(query));
  const nowNs = process.hrtime.bigint();
  const found = candidates();
  const order = (most: number) => currentRanking(signal, read, found, nowNs, most);
  const wanted = query.get('workload');
  const all = { vacant: found.vacant?.() ?? [], unreadable: found.unreadable, configured: read.policy.hasWorkloadSource };
  let ranking = order(JUDGED);
  let workload = wanted === null ? undefined : findWorkload({ ...all, ranked: ranking }, wanted);
  if (workload && ranking.indexOf(workload) >= JUDGED) {
    const { id } = workload.workload;
    ranking = order(ranking.length);
    workload = ranking.find((each) => each.workload.id === id);
  }
  const moment = {
    source: 'evictd',
    node,
    signal,
    ...read,
    pauses: pauses(),
    ranking,
    found,
    nowNs,
    settingsOf: settingsIn(loaded()),
  } as const;
  return { json: explainNow(moment, workload) };
}
