import type { ApiCall } from './pod-call.js';

/** What an event is about: a pod, or the node itself. */
export interface Regarding {
  readonly kind: 'Pod' | 'Node';
  /** Left out: a node. */
  readonly namespace?: string;
  readonly name: string;
  /** Left out: a node, with its name as uid, as in events of the kubelet: `kubectl describe node` searches by that. */
  readonly uid?: string;
}

export interface ClusterEvent {
  readonly regarding: Regarding;
  readonly type: 'Normal' | 'Warning';
  /** 'Evicted'. */
  readonly reason: string;
  /** 'Evict'. */
  readonly action: string;
  readonly note: string;
}

/** An event that was created, and how often it was seen since. */
interface Series {
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
  readonly lastMs: number;
  readonly sentMs: number;
}

/** The series of events, by object, reason and action. */
export type EventSeries = ReadonlyMap<string, Series>;

/** Repetitions within this time are one series (client-go: tools/events, finishTime). */
const SERIES_MS = 360_000;
/** A series is updated no more often than that. */
const UPDATED_MS = 60_000;
/** New events at once, and per minute. A node that evicts more pods needs no more events. */
const BURST = 20;
const PER_MS = 10 / 60_000;

export interface EventState {
  readonly series: EventSeries;
  readonly tokens: number;
  readonly atMs: number;
  readonly created: number;
  /** Events that the limit has dropped. */
  readonly dropped: number;
}

export const NO_EVENTS: EventState = { series: new Map(), tokens: BURST, atMs: 0, created: 0, dropped: 0 };

export interface EventSource {
  /** The node. */
  readonly instance: string;
  /** Hexadecimal. Another one for each run of evictd, so that the names of its events are unique. */
  readonly run: string;
}

/** `text`: in RFC 3339 with six digits (v1.MicroTime). */
export interface EventTime {
  readonly ms: number;
  readonly text: string;
}

/** The difference of two wall clock times. After a step back a series must not stay for as long as the step. */
function awayMs(one: number, other: number): number {
  return Math.abs(one - other);
}

/** The state after an event, and its call. `call` undefined: the event counts in a series that was just updated, or is dropped. */
export function nextEvent(
  before: EventState,
  event: ClusterEvent,
  source: EventSource,
  now: EventTime,
): { readonly state: EventState; readonly call: ApiCall | undefined } {
  const { regarding, reason, action } = event;
  const key = [regarding.kind, regarding.uid ?? regarding.name, reason, action].join('/');
  const known = before.series.get(key);
  const live = new Map([...before.series].filter(([, { lastMs }]) => awayMs(now.ms, lastMs) < SERIES_MS));
  if (known !== undefined && live.has(key)) {
    const isDue = awayMs(now.ms, known.sentMs) >= UPDATED_MS;
    const next = { ...known, count: known.count + 1, lastMs: now.ms, sentMs: isDue ? now.ms : known.sentMs };
    return { state: { ...before, series: live.set(key, next) }, call: isDue ? seriesCall(next, now) : undefined };
  }
  const tokens = Math.min(BURST, before.tokens + Math.max(0, now.ms - before.atMs) * PER_MS);
  if (tokens < 1) return { state: { ...before, series: live, tokens, atMs: now.ms, dropped: before.dropped + 1 }, call: undefined };
  const name = `${regarding.name.slice(0, 200).replace(/[^a-z0-9]+$/, '')}.${source.run}${before.created.toString(16).padStart(4, '0')}`;
  const series = live.set(key, { namespace: namespaceOf(regarding), name, count: 1, lastMs: now.ms, sentMs: now.ms });
  const created = before.created + 1;
  return { state: { ...before, series, tokens: tokens - 1, atMs: now.ms, created }, call: createCall(event, name, source, now) };
}

/** The API server requires this namespace for events of a node. */
function namespaceOf({ namespace = 'default' }: Regarding): string {
  return namespace;
}

/** The limit in bytes of UTF-8 that the API server validates (pkg/apis/core/validation/events.go). */
const LONGEST_NOTE = 1_024;
const LONGEST_INSTANCE = 128;

function createCall(event: ClusterEvent, name: string, { instance }: EventSource, { text }: EventTime): ApiCall {
  const { regarding, note, ...rest } = event;
  const namespace = namespaceOf(regarding);
  return {
    method: 'POST',
    path: eventsPath(namespace),
    body: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace },
      eventTime: text,
      reportingController: 'evictd.dev/evictd',
      reportingInstance: cut(instance, LONGEST_INSTANCE),
      regarding: { apiVersion: 'v1', ...(regarding.kind === 'Node' && { uid: regarding.name }), ...regarding },
      note: cut(note, LONGEST_NOTE),
      ...rest,
    },
  };
}

/** The longest beginning of whole characters within so many bytes of UTF-8. */
function cut(text: string, bytes: number): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytes)).read);
}

function seriesCall({ namespace, name, count }: Series, { text }: EventTime): ApiCall {
  return {
    method: 'PATCH',
    path: `${eventsPath(namespace)}/${encodeURIComponent(name)}`,
    contentType: 'application/merge-patch+json',
    body: { series: { count, lastObservedTime: text } },
  };
}

function eventsPath(namespace: string): string {
  return `${GROUP}namespaces/${encodeURIComponent(namespace)}/events`;
}

interface EventBody {
  readonly regarding?: unknown;
  readonly note?: unknown;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
}

const GROUP = '/apis/events.k8s.io/v1/';

/**
 * The same call for an event in the core group. A kubelet's credential permits events only there (NodeRules in
 * plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go, v1.36.2). Both groups have the same objects, with other names of fields
 * (pkg/apis/events/v1/conversion.go).
 */
export function coreEventCall(call: ApiCall): ApiCall {
  const path = call.path.replace(GROUP, '/api/v1/');
  if (call.method !== 'POST') return { ...call, path };
  const { regarding: involvedObject, note: message, reportingController, ...rest } = call.body as EventBody;
  const source = { component: reportingController, host: rest.reportingInstance };
  const body = { ...rest, apiVersion: 'v1', involvedObject, message, reportingComponent: reportingController, source };
  return { ...call, path, body };
}

/** Whether the path of a call is one of events, in either group. */
export function isOfEvents(path: string): boolean {
  return path.startsWith(GROUP) || /^\/api\/v1\/namespaces\/[^/]+\/events(\/|$)/.test(path);
}
