import type { Effect } from '../../src/core/decide/effect.js';
import type { VictimReading } from '../../src/core/decide/eviction.js';
import type { StepInput } from '../../src/core/decide/step-input.js';
import type { Signal } from '../../src/core/signal/signal.js';
import { initialState, type Policy, type State } from '../../src/core/decide/state.js';
import { step } from '../../src/core/decide/step.js';
import { askedOnce } from '../../src/core/disruption/disruption-budget.js';
import type { OperatorRequest } from '../../src/core/disruption/operator-request.js';
import { drained } from '../../src/core/drain/brief-drain.js';
import type { DrainRequest } from '../../src/core/drain/drain.js';
import { drainPlan } from '../../src/core/drain/drain-step.js';
import type { Candidates } from '../../src/core/workload/workload.js';
import { input, Mi, observations, SECOND } from './support.js';

/** A drain is planned before its step, as the answer to a client does. */
type Asked = Partial<Omit<StepInput, 'request'>> & { readonly request?: OperatorRequest | Omit<DrainRequest, 'ends' | 'awaited'> };

/** A control loop on a timeline: each call is one step at a time in seconds. */
export class Timeline {
  state: State = initialState;
  asked = 0;
  dueAtNs: bigint | undefined;
  notBeforeNs: bigint | undefined;

  constructor(
    public policy: Policy,
    public candidates: Candidates,
  ) {}

  at(
    seconds: number,
    available: Partial<Record<Signal, bigint>> | undefined,
    victims: Readonly<Record<number, Partial<VictimReading>>> = {},
    { request, ...rest }: Asked = {},
  ): Effect[] {
    const nowNs = BigInt(Math.round(seconds * 1e9));
    const planned = this.#planned(request, nowNs);
    const readings = Object.entries(victims).map(([serial, reading]) => {
      return [
        Number(serial),
        { processes: 1, usageBytes: 300n * Mi, removed: false, vanished: false, error: undefined, signalledAtNs: undefined, ...reading },
      ] as const;
    });
    const made = step(
      this.policy,
      this.state,
      input(nowNs, available && observations(nowNs, available), {
        victims: new Map(readings),
        candidates: () => {
          this.asked += 1;
          return this.candidates;
        },
        ...rest,
        ...(planned && { request: planned }),
      }),
    );
    this.state = made.state;
    this.dueAtNs = made.dueAtNs;
    this.notBeforeNs = made.notBeforeNs;
    return [...made.effects];
  }

  #planned(request: Asked['request'], nowNs: bigint): OperatorRequest | undefined {
    if (request?.kind !== 'drain' || 'ends' in request) return request;
    const { policy, state, candidates } = this;
    const found = askedOnce(candidates);
    const { ends } = drainPlan({ policy, state, found, nowNs });
    return { ...request, ends: ends.map(drained), awaited: found.awaitedRuntimes ?? [] };
  }

  /**
   * What a step decides, in brief. Thresholds are those that count (`episodes`): the episodes that are reported end
   * later (reported-episode.test.ts).
   */
  effects(...step: Parameters<Timeline['at']>): string[] {
    const before = this.state.episodes;
    const effects = this.at(...step);
    const after = this.state.episodes;
    const met = [...after].flatMap(([id, { signal }]) => (before.has(id) ? [] : [`met ${signal}`]));
    const cleared = [...before].flatMap(([id, { signal }]) => (after.has(id) ? [] : [`cleared ${signal}`]));
    const ofVictims = effects.filter(({ kind }) => kind === 'escalate' || kind === 'outcome');
    const others = effects.filter((effect) => !ofVictims.includes(effect));
    return [...ofVictims.flatMap(brief), ...met, ...cleared, ...others.flatMap(brief)];
  }

  memory(seconds: number, mebibytes: bigint, victims?: Readonly<Record<number, Partial<VictimReading>>>): string[] {
    return this.effects(seconds, { 'memory.available': mebibytes * Mi }, victims);
  }
}

function brief(effect: Effect): string[] {
  switch (effect.kind) {
    case 'attempt':
      return []; // the reclaim or the eviction that follows says it
    case 'reclaim':
      return [`reclaim ${effect.reclaim.collections.join(', ')}`];
    case 'reclaimed':
      return [`reclaimed ${effect.enough ? 'enough' : 'too little'}`];
    case 'evict':
      return [
        `evict ${effect.decision.victim.workload.name} grace ${String(effect.decision.graceNs / SECOND)}${effect.decision.dryRun ? ' dry' : ''}`,
      ];
    case 'escalate':
      return [`escalate: ${effect.reason}`];
    case 'outcome':
      return [`${effect.outcome.result} ${effect.outcome.decision.victim.workload.name} ${String(effect.outcome.freedBytes / Mi)}Mi`];
    case 'condition':
      return [`${effect.type}=${String(effect.status)}`];
    case 'threshold':
      return []; // it is what is reported of the thresholds
    case 'alert':
      return [`alert ${effect.alert}`];
    case 'taint':
      return [`taint ${effect.event} ${'workload' in effect ? effect.workload.name : effect.taint}`];
    case 'pause':
      return [`pause ${effect.event}`];
    case 'drain':
      return [
        `drain ${effect.event}${'because' in effect ? ` ${effect.because}` : ''} ${String(effect.left.length)}/${String(effect.total)}`,
      ];
    case 'release':
      return [`start ${effect.hold.start.join(' ')}`];
    case 'policy':
      return [
        `${effect.action}${'target' in effect ? ` ${effect.target.name}` : ''}${'reason' in effect ? `: ${effect.reason}` : ''}${effect.dryRun ? ' dry' : ''}`,
      ];
    case 'policy-result':
      return [`${effect.action} ${effect.result}`];
    case 'policy-end':
      return [`end ${effect.policy}: ${effect.reason}`];
    case 'resume':
      return ['resume'];
    case 'error':
      return [`error ${effect.message}`];
  }
}

/** Only the evictions. */
export function evicted(effects: readonly string[]): string[] {
  return effects.filter((effect) => effect.startsWith('evict'));
}
