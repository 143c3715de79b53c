import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { LoadedConfig } from '../../../src/config/config.js';
import { initialState, type State } from '../../../src/core/decide/state.js';
import type { TimedPause } from '../../../src/core/message/pause-message.js';
import { UnavailableError } from '../../../src/errors.js';
import { explainCommand } from '../../../src/features/explain/command.js';
import type { Explanation } from '../../../src/features/explain/explanation.js';
import { getExplain } from '../../../src/features/explain/running.js';
import { routesServer } from '../../../src/http/routes-server.js';
import { ran, type Ran } from '../../cli/support.js';
import { candidates, Mi, observations, policy, SECOND, threshold, workload } from '../../core/support.js';
import { contradictions } from '../../support/json-schema.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const NAMES = ['batch', 'web', ...Array.from({ length: 60 }, (_, index) => `w${String(index).padStart(2, '0')}`)];
const BUDGETS = ['w5*', 'w57'].map((name, index) => ({
  ...({ name: `budget-${String(index)}`, match: { name }, os: 'linux', unhealthyPolicy: 'IfHealthyBudget' } as const),
  limit: { of: 'minAvailable', value: 8, isPercentage: false } as const,
}));
const ENDS = '2026-11-26T02:00:00.000Z';
const MINUTE = 60n * SECOND;

/** What evictd keeps while these are paused; '': everything. */
function pausing(...paths: readonly string[]): { state: State; timed: readonly TimedPause[] } {
  const all = paths.map((path) => [path, { reason: 'swap', ...(path !== '' && { workload: { name: path.slice(1), path } }) }] as const);
  const times = { beganBootNs: 0n, endsBootNs: MINUTE, atNs: 0n };
  return {
    state: { ...initialState, pauses: new Map(all.map(([path, pause]) => [path, { ...pause, ...times }])) },
    timed: all.map(([, pause]) => ({ ...pause, endSeconds: 0, endsAt: '1970-01-01T00:00:00.000Z', endsLocal: ENDS })),
  };
}

let kept: { state: State; timed: readonly TimedPause[] } | undefined;
let judged: string[];
let runtimeDirectory: string;
beforeEach(async () => {
  kept = pausing();
  judged = [];
  runtimeDirectory = temporaryDirectory();
  mkdirSync(join(runtimeDirectory, 'state'));
  const parts = {
    standing: () => {
      if (kept === undefined) throw new UnavailableError('EVICTD_API_STARTING', 'evictd has not read the node yet');
      const read = observations(0n, { 'memory.available': 50n * Mi });
      return {
        policy: policy([threshold('memory.available', '100Mi')], { disruptionBudgets: BUDGETS }),
        state: kept.state,
        layout: 'single',
        observations: read,
      } as const;
    },
    candidates: () => ({
      ...candidates(...NAMES.map((name, index) => [workload(name), BigInt(1_000 - index) * Mi] as [ReturnType<typeof workload>, bigint])),
      veto: ({ name }: { readonly name: string }) => (judged.push(name), name === 'w59' ? ({ kind: 'vacant' } as const) : undefined),
    }),
    node: 'machine',
    pauses: () => kept?.timed ?? [],
    loaded: () => ({ config: { rules: [] }, origins: new Map() }) as unknown as LoadedConfig,
  };
  const answer = ({ query }: { readonly query: URLSearchParams }) => getExplain(query, parts);
  const server = routesServer([{ method: 'GET', path: '/api/v1/explain', servedBy: 'socket', answer }], 60_000);
  onTestFinished(() => void server.close());
  await once(server.listen(join(runtimeDirectory, 'machine.sock')), 'listening');
});

const explain = (...args: readonly string[]): Promise<Ran> =>
  ran(
    (io) => explainCommand({ io, open: () => Promise.reject(new Error('the node is read by the command')) }),
    ['--runtime-directory', runtimeDirectory, '--state-directory', join(runtimeDirectory, 'state'), ...args],
  );
async function explained(...args: readonly string[]): Promise<Explanation> {
  const { out, error } = await explain(...args, '-o', 'json');
  expect(error).toBeUndefined();
  const explanation = JSON.parse(out) as Explanation;
  expect(contradictions('Explanation', explanation)).toEqual([]);
  return explanation;
}

test('the running evictd explains its own state', async () => {
  expect(await explained('web')).toMatchObject({
    source: 'evictd',
    signal: 'memory.available',
    thresholds: [{ met: true, why: 'met for its grace period' }],
    blockers: [],
    next: { name: 'batch' },
    workload: { name: 'web', place: 2, before: { name: 'batch' } },
  });
  expect((await explain()).out).toMatch(/^machine, as the running evictd sees it\n/);
  expect(await explained('--signal', 'pid.available')).toMatchObject({ signal: 'pid.available' });
});

test('a pause of everything is named as a reason, with its end and the command that ends it', async () => {
  kept = pausing('');
  const blocker = `an operator has paused evictions until ${ENDS}: swap; evictd resume ends it before`;
  expect((await explained()).blockers).toEqual([blocker]);
  expect((await explain()).out).toContain(`nothing is evicted now:\n  ${blocker}\n`);
});

test('a paused workload is protected until the end of the pause', async () => {
  kept = pausing('/batch');
  expect(await explained('batch')).toMatchObject({
    blockers: [],
    next: { name: 'web' },
    workload: {
      protection: { kind: 'paused', because: 'an operator has paused its eviction: swap' },
      wouldChange: [`the end of its pause at ${ENDS}, or \`evictd resume\``],
    },
  });
});

test('a workload that ranks late is explained if it is named, and only the first ones otherwise', async () => {
  expect(await explained('w59')).toMatchObject({ workload: { place: null, of: 61, protection: { kind: 'vacant' } } });
  expect(judged).toContain('w59');
  judged = [];
  await explained();
  expect(judged).not.toContain('w59');
});

test('errors keep their codes and exit codes', async () => {
  expect((await explain('nope')).error).toMatchObject({ name: 'InputError', isMissing: true, code: 'EVICTD_EXPLAIN_WORKLOAD' });
  kept = undefined;
  expect((await explain()).error).toMatchObject({ name: 'UnavailableError', code: 'EVICTD_API_STARTING' });
});

test('explain says what the disruption budgets of a workload permit now', async () => {
  const { disruptionBudgets } = (await explained('w50')).workload ?? {};
  const nine = { expected: 9, currentHealthy: 9, desiredHealthy: 8, disruptionsAllowed: 1 }; // w59 has no process
  expect(disruptionBudgets).toEqual([{ name: 'budget-0', ...nine }]);
  expect((await explained('web')).workload).not.toHaveProperty('disruptionBudgets');
  const { out } = await explain('w57');
  expect(out).toMatch(
    /evicted before it\ndisruption budget budget-0: 9 of 9 healthy, 8 desired, 1 may be evicted\ndisruption budget budget-1: .*, 0 may be evicted\n/,
  );
  expect(out).toContain('\nevictd evict and evictd drain refuse it: it has two disruption budgets, and may have one\n');
});
