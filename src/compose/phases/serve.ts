import type { Socket } from 'node:net';
import manifest from '../../../package.json' with { type: 'json' };
import * as preempting from '../../features/admission/preemption-answer.js';
import * as explaining from '../../features/explain/running.js';
import * as draining from '../../features/eviction/drain-answer.js';
import * as evicting from '../../features/eviction/eviction-answer.js';
import * as deferred from '../../features/request/pause-answer.js';
import * as tainting from '../../features/request/taint-answer.js';
import { RunningStatus } from '../../features/status/open.js';
import type { EvictdStatus } from '../../features/status/status-document.js';
import { controlSocketPath } from '../../host/instance-lock.js';
import { selectHost } from '../../host/select.js';
import * as streaming from '../../http/event-stream.js';
import { CLIENT_TIMEOUT_MS, Listener, type UserOf } from '../../http/listener.js';
import type { ApiAnswer, ApiRequest, Route } from '../../http/route.js';
import { routesServer } from '../../http/routes-server.js';
import * as shared from '../../http/shared-socket.js';
import type { Log } from '../../log/log.js';
import { native } from '../../native/index.js';
import * as serving from '../../metrics/server.js';
import { tryLock } from '../try-lock.js';
import type { Acting } from './act.js';
import type { Locked } from './lock.js';
import type { Observed } from './observe.js';
import type { Published } from './publish.js';

/** What clients can ask of a running evictd. */
export interface Served {
  /** undefined: metrics are off. */
  readonly metrics: Listener | undefined;
  /** undefined: this system has no Unix sockets. */
  readonly control: Listener | undefined;
}

/** To connect is to control evictd. `controlSocket.group` opens it to a group. */
const SOCKET_MODE = 0o600;

export function serve(locked: Locked, published: Published, observed: Observed, acting: Acting): Served {
  const { inForce, instance, log, closers } = locked;
  const { status, registry } = published;
  const routes = routesOf(locked, published, observed, acting);
  const { metrics: address } = inForce.started;
  const tokenFile = (): string | undefined => inForce.config.metricsTokenFile;
  const userOf: UserOf = (socket) => selectHost().userOf?.(native, socket);
  const metrics = address && serving.metricsServer({ address, tryLock, status, registry, routes, tokenFile, userOf, log });
  if (selectHost().os === 'windows') return { metrics, control: undefined };
  const peerOf = (socket: Socket): string | undefined => selectHost().peerOf?.(native, socket);
  const socket = controlSocketPath(inForce.started.runtimeDirectory, instance);
  const server = routesServer(routes, CLIENT_TIMEOUT_MS, { peerOf, userOf });
  const { group } = inForce.started.controlSocket;
  if (group !== undefined) server.on('listening', () => shareWith(group, socket, log));
  const control = new Listener(server, {
    address: { socket },
    tryLock: () => ({ close: () => undefined }), // the instance lock is held
    mode: SOCKET_MODE,
    userOf,
    log,
    what: 'commands',
    level: 'debug',
    code: 'EVICTD_CONTROL_LISTEN',
    hint: 'evictions go on; evictd pause fails, and evictd status reads the node itself',
  });
  return { metrics, control: closers.add(control) };
}

function shareWith(group: string, socket: string, log: Log): void {
  try {
    shared.shareSocket(socket, group);
  } catch (error) {
    log.warn(`only root can connect to ${socket}: group ${group}: ${(error as Error).message}`, {
      code: 'EVICTD_CONTROL_GROUP',
      hint: 'evictd needs CAP_CHOWN, or has to be a member: systemctl edit evictd, SupplementaryGroups= in [Service]',
    });
  }
}

/** Asks container runtimes again before the answer, for operations that end workloads: a container that has just started is known then. */
type Afresh = (answer: (request: ApiRequest) => ApiAnswer) => Route['answer'];

/** What clients see of this evictd itself. */
function identityOf({ options, inForce }: Pick<Locked, 'options' | 'inForce'>, status: Published['status']): () => EvictdStatus {
  const startedAt = new Date().toISOString();
  return () => ({
    version: manifest.version,
    pid: process.pid,
    startedAt,
    dryRun: options.dryRun,
    safeMode: status.safeMode ?? null,
    shuttingDown: status.shutdown.lasts,
    configuration: {
      files: inForce.loaded.written.files.map(({ file }) => file),
      inForceSince: new Date(status.config.sinceSeconds * 1_000).toISOString(),
      refused: !status.config.taken,
    },
  });
}

/** Every operation of the API. To add one, add an entry. */
function routesOf(
  { options, node, inForce }: Locked,
  { status, journal, view }: Published,
  { workloads, runtimes }: Observed,
  { monitor, endSafeMode }: Acting,
): readonly Route[] {
  const evictd = identityOf({ options, inForce }, status);
  const running = new RunningStatus({ view, node, status, workloads, journal, evictd });
  status.budgetStatuses = running.budgets;
  const pausing = {
    maxNs: () => inForce.config.maxPauseNs,
    candidates: () => workloads.candidates('bounds'),
    monitor,
    endSafeMode,
    status,
  };
  const evictable = { standing: () => running.standing(), candidates: () => workloads.candidates(), monitor };
  const tainted = { configured: () => inForce.config.taints, dryRun: options.dryRun, monitor, status };
  const explained = {
    standing: () => running.standing(),
    candidates: () => workloads.candidates('bounds'),
    node: node.identity.name,
    pauses: () => status.pauses,
    loaded: () => inForce.loaded,
  };
  const preemption = {
    standing: () => running.standing(),
    candidates: () => workloads.candidates('bounds'),
    allocatable: () => inForce.config.allocatable,
    monitor,
  };
  const afresh: Afresh = (answer) => (request) => runtimes.reported(inForce.config).then(() => answer(request));
  let stream: streaming.EventStream | undefined;
  const events = (): streaming.EventStream =>
    (stream ??= new streaming.EventStream('status', () => running.answer({ query: new URLSearchParams() }).json));
  return [
    { method: 'GET', path: '/api/v1/status', servedBy: 'everywhere', answer: running.answer },
    { method: 'GET', path: '/api/v1/ranking', servedBy: 'everywhere', answer: running.ranking },
    { method: 'GET', path: '/api/v1/decisions', servedBy: 'everywhere', answer: running.decisions },
    { method: 'GET', path: '/api/v1/explain', servedBy: 'everywhere', answer: ({ query }) => explaining.getExplain(query, explained) },
    { method: 'GET', path: '/api/v1/events', servedBy: 'everywhere', answer: ({ isRoot }) => ({ stream: events().join(isRoot) }) },
    { method: 'POST', path: '/api/v1/pause', servedBy: 'socket', answer: (request) => deferred.postPause(request, pausing) },
    { method: 'POST', path: '/api/v1/preempt', servedBy: 'socket', answer: afresh((asked) => preempting.postPreempt(asked, preemption)) },
    { method: 'GET', path: '/api/v1/drain', servedBy: 'everywhere', answer: () => draining.drainOf(evictable) },
    { method: 'POST', path: '/api/v1/drain', servedBy: 'socket', answer: afresh((request) => draining.postDrain(request, evictable)) },
    { method: 'POST', path: '/api/v1/cordon', servedBy: 'socket', answer: (request) => draining.postCordon('cordon', request, evictable) },
    { method: 'POST', path: '/api/v1/uncordon', servedBy: 'socket', answer: (asked) => draining.postCordon('uncordon', asked, evictable) },
    { method: 'POST', path: '/v1/evictions', servedBy: 'socket', answer: afresh((request) => evicting.postEviction(request, evictable)) },
    { method: 'POST', path: '/api/v1/taints', servedBy: 'socket', answer: (request) => tainting.postTaint(request, tainted) },
    { method: 'POST', path: '/api/v1/resume', servedBy: 'socket', answer: (request) => deferred.postResume(request, pausing) },
  ];
}
