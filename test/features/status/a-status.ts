import type { StatusDocument } from '../../../src/features/status/status-document.js';

export const MI = 1024 * 1024;
const TODAY = new Date();
TODAY.setHours(12, 34, 56, 0);
/** When everything in it happened. */
export const AT = TODAY.toISOString();

/** Of an evictd that has something of everything. */
export const STATUS: StatusDocument = {
  apiVersion: 'v1',
  time: AT,
  evictd: {
    version: '1.2.3',
    pid: 7,
    startedAt: AT,
    dryRun: false,
    safeMode: null,
    shuttingDown: false,
    configuration: { files: [], inForceSince: AT, refused: false },
  },
  node: { name: 'machine', cgroup: null, cgroupVersion: 2 },
  signals: [
    {
      signal: 'memory.available',
      unit: 'bytes',
      operator: '<',
      value: 150 * MI,
      capacity: 1024 * MI,
      ageSeconds: 1,
      history: [300 * MI, 225 * MI, 150 * MI],
    },
    { signal: 'pid.available', unit: 'processes', operator: '<', value: null, capacity: null, ageSeconds: null, history: [] },
  ],
  historyAgesSeconds: [3, 2, 1],
  thresholds: [
    {
      when: 'memory.available<100Mi',
      kind: 'hard',
      met: false,
      operands: [{ signal: 'memory.available', limit: 100 * MI, distance: 50 * MI }],
      graceSeconds: 0,
      since: null,
      actsInSeconds: null,
    },
    {
      when: 'memory.available<200Mi',
      kind: 'soft',
      met: true,
      operands: [{ signal: 'memory.available', limit: 200 * MI, distance: -50 * MI }],
      graceSeconds: 30,
      since: AT,
      actsInSeconds: 20,
    },
  ],
  conditions: [{ type: 'MemoryPressure', status: 'True', clearsInSeconds: 240 }],
  taints: [
    { taint: 'node.kubernetes.io/unschedulable:NoSchedule', from: 'operator', evictions: [] },
    {
      taint: 'maintenance=yes:NoExecute',
      from: 'operator',
      evictions: [{ name: 'web', path: '/workload.slice/web', endsAt: AT }],
    },
  ],
  drain: {
    ...{ state: 'draining', total: 9, ended: 4, evicting: 1, unnamed: 0 },
    left: [
      { name: 'batch', path: '/s/batch', evicting: true },
      ...[1, 2, 3, 4].map((at) => ({ name: `web-${String(at)}`, path: `/s/web-${String(at)}`, evicting: false, waits: 'a budget' })),
    ],
  },
  disruptionBudgets: [{ name: 'web', expected: 4, currentHealthy: 1, desiredHealthy: 2, disruptionsAllowed: 0 }],
  pressure: null,
  candidates: {
    signal: 'memory.available',
    order: null,
    total: 60,
    workloads: Array.from({ length: 50 }, (_, index) => ({
      place: index === 1 ? null : Math.max(1, index),
      name: `w${String(index + 1)}`,
      path: '/w',
      priority: 0,
      usage: 10 * MI,
      request: 0,
      exceedsRequest: true,
      growth: index === 0 ? 2 * MI : null,
      protection: index === 1 ? 'critical' : null,
    })),
    unreadable: [],
  },
  evictions: [
    {
      decision: 3,
      name: 'a\u001b[31m',
      path: '/a',
      phase: 'terminating',
      phaseSeconds: 2,
      killsInSeconds: 3,
      usageBytes: MI,
      processes: 1,
      message: '',
    },
  ],
  decisions: Array.from({ length: 32 }, (_, index) => ({
    time: AT,
    type: 'outcome',
    decision: index,
    message: `evicted ${String(index)}`,
  })),
  budget: { max: 5, windowSeconds: 600, resources: [{ resource: 'memory', remaining: 1, freeInSeconds: null }] },
  pauses: [{ kind: 'leak', message: 'a pause' }],
  policies: [{ name: 'p', when: 'x', steps: ['freeze', 'kill'], active: [{ scope: '/s', state: 'acting', step: 0, secondsLeft: 4 }] }],
  kubernetes: null,
  heldUnits: [{ unit: 'u.service', decision: 1, startsInSeconds: 60 }],
  notifiers: [{ mechanism: 'sampler', signal: 'memory.available', target: 't', live: false, essential: true, reason: 'r' }],
  problems: [{ code: 'C', message: 'm', hint: 'h' }],
};
