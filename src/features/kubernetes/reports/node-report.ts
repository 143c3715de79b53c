import { isDeepStrictEqual } from 'node:util';
import { answerText, type ApiAnswer } from '../../../core/kubernetes/eviction-answer.js';
import type { KubernetesConfig } from '../../../core/kubernetes/kubernetes-config.js';
import { conditionPatch, cordonOf, isUncordoned, isUnschedulable, nodePath } from '../../../core/kubernetes/node-condition-patch.js';
import { cordonPatch, taintPatch } from '../../../core/kubernetes/node-spec-patch.js';
import type { ApiCall } from '../../../core/kubernetes/pod-call.js';
import { isSameTaint, type Taint } from '../../../core/disruption/taint.js';
import type { ConditionType } from '../../../core/signal/signal.js';
import type { Log } from '../../../log/log.js';
import type { StepListener } from '../../../monitor/ports/ports.js';
import { randomPauseMs, WITHIN_MS, type Ask } from './report-ports.js';
import type { NodeSection, ReportedNode } from './reported-node.js';
import { messageOf } from '../../../errors.js';

export interface NodeReportParts {
  readonly ask: Ask;
  readonly nodeName: string;
  readonly config: Pick<KubernetesConfig, 'kubeconfig' | 'taint' | 'conditions'>;
  /** The section of the saved state with the {@link ReportedNode}. */
  readonly section: NodeSection;
  /** The API server or the node is not configured any more: evictd takes back what it has set there. */
  readonly isLeaving: boolean;
  /** The boot ID of this machine. */
  readonly bootId: string;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Left out: random. Tests wait less. */
  readonly pauseMs?: (failures: number) => number;
  /** The wait after a conflict with another program. Left out: random. Tests wait less. */
  readonly conflictMs?: number;
}

/** What the node is to show. Replaced at each change. */
interface Wanted {
  readonly conditions: readonly ConditionType[];
  readonly isCordoned: boolean;
}

type Known = Pick<ReportedNode, 'isDrainKnown' | 'hasCordoned'>;

/** The pause after a conflict. The limit of the client (5 requests a second) permits the reading and the patch again by then. */
const CONFLICT_MS = 400;
const CONFLICT_JITTER_MS = 600;
/** The interval in which the kubelet reports a status that has not changed (nodeStatusReportFrequency). */
const HEARTBEAT_NS = 300_000_000_000n;
const HINT = 'evictd doctor names permissions that are missing';
/** Why a cordon is left as it is, and what an operator can do. */
const CORDON_STAYS = {
  'other machine': [
    'it runs on another machine, or its kubelet has not reported since the reboot (status.nodeInfo.bootID)',
    'check kubernetes.nodeName; after a reboot evictd uncordons the node when the kubelet has reported',
  ],
  lost: [
    'the saved state was lost, and an operator may be draining the node',
    'evictd uncordon ends that, and evictd drain goes on with it',
  ],
  unknown: ['this evictd does not know of having cordoned it', 'kubectl uncordon ends that, if it is not being drained'],
} as const;
/** Until the kubelet has reported, the node is read again as after this number of failures: within 30 s. */
const REPORT_AWAITED_FAILURES = 6;
/** An eviction does not wait longer for the taint, or until the node is cordoned. */
const PUBLISHED_WITHIN_MS = 1_000;

/**
 * Publishes the conditions of the node at the API server, its taint while it has memory pressure, and that an operator has cordoned
 * it. What an earlier configuration has set is taken back.
 */
export class NodeReport implements StepListener {
  readonly #parts: NodeReportParts;
  #wanted: Wanted | undefined;
  /** Taints of earlier configurations. */
  #staleTaints: readonly Taint[];
  /** The node shows nothing of evictd, and is to show nothing. */
  #isBare = false;
  /** If no drain is known, a cordon of this boot stays: the saved state was lost, and an operator may be draining the node. */
  #known: Known;
  #isCordonLogged = false;
  #reportedNs = 0n;
  #running: Promise<void> | undefined;
  #failures = 0;
  /** Patches without permission that were logged. */
  readonly #forbidden = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: NodeReportParts) {
    this.#parts = parts;
    const { nodeName, config, section, isLeaving } = parts;
    const before = section.before?.nodeName === nodeName ? section.before : undefined;
    const { taints = [], isDrainKnown = false, hasCordoned = false } = before ?? {};
    this.#staleTaints = taints.filter((taint) => config.taint === undefined || !isSameTaint(taint, config.taint));
    this.#known = { isDrainKnown, hasCordoned };
    if (!isLeaving) this.#save();
  }

  stepped({ state, input: { nowNs, request } }: Pick<Parameters<StepListener['stepped']>[0], 'state' | 'input'>): void {
    const isCordoned = state.drain !== undefined && !this.#parts.isLeaving;
    const conditions = this.#parts.isLeaving ? [] : state.conditions;
    const isAsked = !this.#known.isDrainKnown && !this.#parts.isLeaving && (isCordoned || request?.kind === 'uncordon');
    const { isDrainKnown, hasCordoned } = this.#known;
    this.#know({ isDrainKnown: isDrainKnown || isAsked, hasCordoned: hasCordoned && isCordoned });
    if (isAsked || conditions.join() !== this.#wanted?.conditions.join() || isCordoned !== this.#wanted.isCordoned) {
      this.#wanted = { conditions, isCordoned };
      this.#report(nowNs);
    } else {
      this.skipped(nowNs);
    }
  }

  skipped(nowNs: bigint): boolean {
    if (this.#wanted !== undefined && nowNs - this.#reportedNs >= HEARTBEAT_NS) this.#report(nowNs);
    return true;
  }

  /** Resolves when the node shows what it should, or after that time. */
  async published(withinMs = PUBLISHED_WITHIN_MS): Promise<void> {
    if (this.#running === undefined) return;
    const limit = AbortSignal.timeout(withinMs);
    const late = new Promise<void>((resolve) => {
      limit.addEventListener('abort', () => {
        resolve();
      });
    });
    await Promise.race([this.#running, late]);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #report(nowNs: bigint): void {
    this.#reportedNs = nowNs;
    clearTimeout(this.#timer);
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    let wanted: Wanted | undefined;
    while (this.#wanted !== undefined && wanted !== this.#wanted && !this.#isClosed) {
      wanted = this.#wanted;
      const why = await this.#publish(wanted).catch((error: unknown) => messageOf(error));
      if (why === 'again' || why === 'conflict') wanted = undefined;
      if (why === 'conflict') await this.#paused();
      else if (why !== undefined && why !== 'again') {
        this.#failed(why);
        return;
      }
    }
    if (this.#failures > 0) this.#parts.log.info('the API server accepts the conditions of the node again');
    this.#failures = 0;
  }

  /** Waits until the node is read again after a conflict. */
  async #paused(): Promise<void> {
    const { conflictMs = CONFLICT_MS + Math.random() * CONFLICT_JITTER_MS } = this.#parts;
    await new Promise((resolve) => setTimeout(resolve, conflictMs).unref());
  }

  #failed(why: string): void {
    if (this.#isClosed) return;
    this.#failures += 1;
    if (this.#failures === 1) {
      const { isLeaving, nodeName, log } = this.#parts;
      const what = isLeaving
        ? `remove its conditions and taints from node ${nodeName}`
        : 'publish the conditions of the node at the API server';
      log.warn(`evictd cannot ${what}: ${why}; evictd tries again`, {
        code: 'EVICTD_KUBERNETES_NODE',
        hint: HINT,
      });
    }
    this.#reportAfter(this.#failures);
  }

  #reportAfter(failures: number): void {
    const { pauseMs = randomPauseMs } = this.#parts;
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#report(this.#reportedNs);
    }, pauseMs(failures)).unref();
  }

  /** undefined: done. 'conflict': another program has changed the node meanwhile. 'again': more is to be done. Otherwise what is wrong. */
  async #publish(wanted: Wanted): Promise<string | undefined> {
    const { ask, nodeName, config, isLeaving, bootId } = this.#parts;
    const { taint, conditions: names } = config;
    const isBare = taint === undefined && names === 'none' && !wanted.isCordoned;
    if (isBare && this.#isBare) return undefined;
    const { status, body, ...rest } = await ask({ method: 'GET', path: nodePath(nodeName), withinMs: WITHIN_MS, tokens: 2 });
    this.#isBare = isBare && (status === 403 || status === 404);
    if (this.#isBare) {
      if (isLeaving && status === 403) this.#refused('its taint', { status, body, ...rest });
      if (isLeaving) this.#finish(true);
      return undefined;
    }
    if (status !== 200) return `it ${answerText({ status, body, ...rest })}`;
    const now = new Date().toISOString();
    const isTainted = wanted.conditions.includes('MemoryPressure');
    const stale = taint === undefined || isTainted ? this.#staleTaints : [...this.#staleTaints, taint];
    const patches: readonly (readonly [what: string, of: (node: unknown) => ApiCall | undefined])[] = [
      ['its taint', (node) => taintPatch(node, isTainted ? taint : undefined, stale, now.replace(/\.\d+/, ''))],
      ['its conditions', (node) => conditionPatch(nodeName, node, { names, bootId, ...wanted }, now)],
      ['that it is cordoned', (node) => (this.#leavesCordon(node, wanted) ? undefined : cordonPatch(node, wanted.isCordoned))],
    ];
    let node = body;
    let tokens = 0; // the first patch follows the reading at once: other programs have the least time to change the node in between
    for (const [what, of] of patches) {
      const call = of(node);
      const answer = call && (await this.#patched(what, { ...call, tokens }));
      if (call) tokens = 1;
      if (typeof answer === 'string') return answer;
      node = answer?.body ?? node;
    }
    this.#know({ ...this.#known, hasCordoned: wanted.isCordoned && (this.#known.hasCordoned || isUnschedulable(node)) });
    const cordon = wanted.isCordoned ? undefined : cordonOf(node, bootId);
    if (cordon !== undefined && this.#leavesCordon(node, wanted)) {
      const awaitsReport = cordon === 'other machine' && !isLeaving;
      this.#cordonStays(isLeaving ? 'unknown' : awaitsReport ? cordon : 'lost');
      if (awaitsReport) this.#reportAfter(REPORT_AWAITED_FAILURES);
    }
    // The condition is removed when the node is not cordoned any more: a crash in between forgets nothing.
    if (this.#forbidden.size === 0 && !wanted.isCordoned && isUncordoned(node)) return 'again';
    if (this.#forbidden.size === 0 || isLeaving) this.#finish(isBare && (isLeaving || cordon === undefined));
    return undefined;
  }

  /** A cordon that evictd neither sets nor takes back. */
  #leavesCordon(node: unknown, { isCordoned }: Wanted): boolean {
    if (isCordoned) return this.#known.hasCordoned;
    const cordon = cordonOf(node, this.#parts.bootId);
    return cordon === 'this boot' ? !this.#known.isDrainKnown : cordon === 'other machine' || this.#parts.isLeaving;
  }

  #cordonStays(because: keyof typeof CORDON_STAYS): void {
    const { nodeName, log } = this.#parts;
    if (this.#isCordonLogged) return;
    this.#isCordonLogged = true;
    const [why, hint] = CORDON_STAYS[because];
    log.warn(`node ${nodeName} stays cordoned: ${why}`, { code: 'EVICTD_KUBERNETES_CORDON', hint });
  }

  #know(known: Known): void {
    if (this.#parts.isLeaving || isDeepStrictEqual(known, this.#known)) return;
    this.#known = known;
    this.#save();
  }

  #finish(isBare: boolean): void {
    this.#isBare = isBare;
    if (this.#staleTaints.length > 0 || this.#parts.isLeaving) {
      this.#staleTaints = [];
      this.#save();
    }
  }

  /** What is to be set is saved before it is set. */
  #save(): void {
    const { nodeName, section, isLeaving, config } = this.#parts;
    const { kubeconfig, taint } = config;
    const taints = [...this.#staleTaints, ...(taint ? [taint] : [])];
    section.keep(isLeaving ? undefined : ({ kubeconfig, nodeName, taints, ...this.#known } satisfies ReportedNode));
  }

  /**
   * The answer, or what is wrong. A missing permission, or an admission policy that denies it (422), is logged once, and tried again at
   * the next change: there is no answer.
   */
  async #patched(what: string, call: ApiCall & { readonly tokens: number }): Promise<ApiAnswer | string | undefined> {
    const answer: ApiAnswer = await this.#parts.ask({ ...call, withinMs: WITHIN_MS });
    if (answer.status === 409) return 'conflict';
    if (answer.status === 403 || answer.status === 422) {
      this.#refused(what, answer);
      return undefined;
    }
    this.#forbidden.delete(what);
    return answer.status >= 200 && answer.status < 300 ? answer : `for ${what} it ${answerText(answer)}`;
  }

  #refused(what: string, answer: ApiAnswer): void {
    const { isLeaving, nodeName, log } = this.#parts;
    const isLogged = isLeaving ? this.#forbidden.size > 0 : this.#forbidden.has(what);
    this.#forbidden.add(what);
    if (isLogged) return;
    const change = isLeaving ? `remove its conditions and taints from node ${nodeName}` : `change ${what}`;
    log.warn(`the API server does not let evictd ${change}: it ${answerText(answer)}`, {
      code: 'EVICTD_KUBERNETES_NODE',
      hint: isLeaving ? this.#byHand() : HINT,
    });
  }

  #byHand(): string {
    const { nodeName } = this.#parts;
    const taints = this.#staleTaints.map(({ key, effect }) => `kubectl taint node ${nodeName} ${key}:${effect}-`);
    return [...taints, `and if evictd has cordoned it: kubectl uncordon ${nodeName}`].join('; ');
  }
}
