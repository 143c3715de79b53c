import { describe, expect, test } from 'vitest';
import type { LoadedUnit, UnitRestart } from '../../../src/core/systemd/loaded-unit.js';
import {
  planUnitStop,
  unitsToRead,
  type EmergencyAction,
  type SignalReason,
  type ProtectedDependant,
  type UnitStop,
} from '../../../src/core/systemd/unit-stop.js';

type Facts = Partial<
  Pick<
    LoadedUnit,
    | 'activeState'
    | 'managedOomPreference'
    | 'restart'
    | 'stopsWith'
    | 'endsWith'
    | 'needs'
    | 'stopWhenUnneeded'
    | 'neededBy'
    | 'triggeredBy'
    | 'stale'
    | 'unsure'
    | 'controlGroup'
    | 'acceptsEach'
    | 'transient'
    | 'emergencyAction'
  >
>;

function loaded(name: string, facts: Facts): LoadedUnit {
  return {
    name,
    activeState: 'active',
    sinceNs: undefined,
    controlGroup: `/system.slice/${name}`,
    memoryMinBytes: 0n,
    memoryLowBytes: 0n,
    managedOomPreference: 'none',
    timeoutStopNs: 90_000_000_000n,
    restart: 'no',
    stopsWith: [],
    endsWith: [],
    needs: [],
    stopWhenUnneeded: false,
    neededBy: [],
    triggeredBy: [],
    conflicts: [],
    acceptsEach: false,
    transient: false,
    emergencyAction: undefined,
    readAtNs: 0n,
    stale: false,
    unsure: false,
    ...facts,
  };
}

/**
 * Of batch, where everything else is loaded and runs unless it is said; what is called dear is protected. `null`:
 * nothing is known of it.
 */
function plan(
  facts: Facts,
  others: Readonly<Record<string, Facts | null>> = {},
  forGood?: boolean,
): UnitStop | ProtectedDependant | EmergencyAction {
  const named = new Set(
    [facts, ...Object.values(others)].flatMap((unit) => [
      ...(unit?.stopsWith ?? []),
      ...(unit?.triggeredBy ?? []),
      ...(unit?.neededBy ?? []),
    ]),
  );
  const units = new Map<string, LoadedUnit>([...named].map((name) => [name, loaded(name, {})]));
  for (const [name, unit] of Object.entries(others)) {
    if (unit === null) units.delete(name);
    else units.set(name, loaded(name, unit));
  }
  units.set('batch', loaded('batch', facts));
  return planUnitStop(
    'batch',
    '/system.slice/batch',
    {
      unit: (name) => units.get(name),
      isProtected: ({ name }) => name.startsWith('dear'),
    },
    forGood,
  );
}

/** There for batch alone. */
const unneeded: Facts = { stopWhenUnneeded: true, neededBy: ['batch'] };

type Stop = Extract<UnitStop, { kind: 'stop' }>;
/** Where it is not said otherwise, all that goes is known to run. */
const stop = ({ dependants = [], triggers = [], timers = [], restarts = false, ...what }: Partial<Stop> = {}): Partial<Stop> => ({
  kind: 'stop',
  dependants,
  triggers,
  timers,
  restarts,
  running: [...dependants, ...triggers, ...timers].sort(),
  ...what,
});
const signal = (because: SignalReason, unit: string): Partial<UnitStop> => ({ kind: 'signal', because, unit });
const protectedDependant = (unit: string, how: 'stops' | 'restarts'): ProtectedDependant => ({ kind: 'protected-dependant', unit, how });

describe('the way in which evictd ends a unit', () => {
  test.each<[rule: string, facts: Facts, others: Record<string, Facts | null>, expected: Partial<UnitStop> | ProtectedDependant]>([
    ['no other unit depends on it', {}, {}, stop()],
    ['units that depend on it are stopped with it', { stopsWith: ['web', 'api'] }, {}, stop({ dependants: ['api', 'web'] })],
    [
      'units that depend on its dependents are stopped with it',
      { stopsWith: ['web'] },
      { web: { stopsWith: ['proxy'] } },
      stop({ dependants: ['proxy', 'web'] }),
    ],
    ['a dependent unit that does not run is not stopped', { stopsWith: ['web'] }, { web: { activeState: 'inactive' } }, stop()],
    [
      'a stop reaches units behind a dependent that does not run',
      { stopsWith: ['web'] },
      { web: { activeState: 'failed', stopsWith: ['proxy'] } },
      stop({ dependants: ['proxy'] }),
    ],
    ['a circle ends', { stopsWith: ['web'] }, { web: { stopsWith: ['batch', 'web'] } }, stop({ dependants: ['web'] })],
    [
      'a socket, a path, and a timer would start it again',
      { triggeredBy: ['b.timer', 'b.socket', 'b.path'] },
      {},
      stop({ triggers: ['b.path', 'b.socket'], timers: ['b.timer'] }),
    ],
    [
      'a socket that does not listen does not start the unit again',
      { triggeredBy: ['b.socket'] },
      { 'b.socket': { activeState: 'inactive' } },
      stop(),
    ],
    [
      'units that depend on its socket are stopped with it, too',
      { triggeredBy: ['b.socket'] },
      { 'b.socket': { stopsWith: ['batch', 'web'] } },
      stop({ triggers: ['b.socket'], dependants: ['web'] }),
    ],
    [
      'a socket that depends on it is named once',
      { triggeredBy: ['b.socket'], stopsWith: ['b.socket'] },
      {},
      stop({ triggers: ['b.socket'] }),
    ],

    ['a protected unit would be stopped with it', { stopsWith: ['dear'] }, {}, signal('protected', 'dear')],
    [
      'a protected unit further on would be stopped with it',
      { stopsWith: ['web'] },
      { web: { stopsWith: ['dear'] } },
      signal('protected', 'dear'),
    ],
    [
      'a protected unit would be stopped with its socket',
      { triggeredBy: ['b.socket'] },
      { 'b.socket': { stopsWith: ['dear'] } },
      signal('protected', 'dear'),
    ],
    ['its socket is protected', { triggeredBy: ['dear.socket'] }, {}, signal('protected', 'dear.socket')],
    [
      'a unit that asks to be omitted is protected, too',
      { stopsWith: ['web'] },
      { web: { managedOomPreference: 'omit' } },
      signal('protected', 'web'),
    ],
    [
      'a unit that asks to be avoided is not protected',
      { stopsWith: ['web'] },
      { web: { managedOomPreference: 'avoid' } },
      stop({ dependants: ['web'] }),
    ],
    ['the protected unit does not run', { stopsWith: ['dear'] }, { dear: { activeState: 'inactive' } }, stop()],
    [
      'the protected unit did not run a while ago',
      { stopsWith: ['dear'] },
      { dear: { activeState: 'inactive', stale: true } },
      signal('protected', 'dear'),
    ],

    [
      'a unit that is bound to it is stopped by systemd however it ends',
      { stopsWith: ['dear'], endsWith: ['dear'] },
      {},
      protectedDependant('dear', 'stops'),
    ],
    [
      'a unit that depends on a unit bound to it is stopped by systemd however it ends',
      { stopsWith: ['web'], endsWith: ['web'] },
      { web: { stopsWith: ['dear'] } },
      protectedDependant('dear', 'stops'),
    ],
    [
      'a service that restarts also restarts the units that need it',
      { restart: 'always', stopsWith: ['dear'] },
      {},
      protectedDependant('dear', 'restarts'),
    ],
    [
      'a service that restarts does not restart the units that stop with its socket',
      { restart: 'always', triggeredBy: ['b.socket'] },
      { 'b.socket': { stopsWith: ['dear'] } },
      signal('protected', 'dear'),
    ],

    ['a unit that needs it keeps running, needed or not', { needs: ['db'] }, { db: { neededBy: ['batch'] } }, stop()],
    [
      'a unit that only it needs is stopped afterwards, with units that depend on that one',
      { needs: ['db'] },
      { db: { ...unneeded, stopsWith: ['batch', 'web'] } },
      stop({ dependants: ['db', 'web'] }),
    ],
    [
      'a unit that only a stopped dependency needs is stopped, too',
      { needs: ['db'] },
      { db: { ...unneeded, needs: ['disk'] }, disk: { stopWhenUnneeded: true, neededBy: ['db'] } },
      stop({ dependants: ['db', 'disk'] }),
    ],
    [
      'a unit that another unit needs is not stopped',
      { needs: ['db'] },
      { db: { stopWhenUnneeded: true, neededBy: ['batch', 'web'] } },
      stop(),
    ],
    [
      'a unit that another unit needs is stopped if that one is stopped, too',
      { needs: ['db'], stopsWith: ['web'] },
      { db: { stopWhenUnneeded: true, neededBy: ['batch', 'web'] } },
      stop({ dependants: ['db', 'web'] }),
    ],
    [
      'a unit that another unit needs is stopped if that one does not run',
      { needs: ['db'] },
      { db: { stopWhenUnneeded: true, neededBy: ['batch', 'web'] }, web: { activeState: 'inactive' } },
      stop({ dependants: ['db'] }),
    ],
    [
      'a unit that another unit needs is not stopped if nothing is known of that one',
      { needs: ['dear'] },
      { dear: { stopWhenUnneeded: true, neededBy: ['batch', 'web'] }, web: null },
      protectedDependant('dear', 'stops'),
    ],
    ['a protected unit is needed only by it', { needs: ['dear'] }, { dear: unneeded }, protectedDependant('dear', 'stops')],
    [
      'a protected unit is needed only by it, also if systemd starts it again',
      { needs: ['dear'], restart: 'always' },
      { dear: unneeded },
      signal('protected', 'dear'),
    ],
    [
      'a protected unit is needed only by a unit that depends on it',
      { stopsWith: ['web'] },
      { web: { needs: ['dear'] }, dear: { stopWhenUnneeded: true, neededBy: ['web'] } },
      signal('protected', 'dear'),
    ],

    ['the units that depend on it are unknown', { stopsWith: ['web'] }, { web: null }, signal('unknown', 'web')],
    ['the units that depend on it may have changed since they were read', { unsure: true }, {}, signal('unsure', 'batch')],
    [
      'the units that depend on its dependents may have changed',
      { stopsWith: ['web'] },
      { web: { unsure: true } },
      signal('unsure', 'web'),
    ],
    [
      'changed dependents make no difference where evictd sends a signal anyway',
      { unsure: true, stopsWith: ['dear'] },
      {},
      signal('protected', 'dear'),
    ],
    ['only the name of a protected unit is known', { stopsWith: ['dear'] }, { dear: null }, signal('protected', 'dear')],
  ])('%s', (_rule, facts, others, expected) => {
    expect(plan(facts, others)).toMatchObject(expected);
  });

  test.each<[restart: UnitRestart, restarts: boolean]>([
    ['no', false],
    ['on-watchdog', false],
    ['on-success', true], // by SIGTERM
    ['on-failure', true],
    ['on-abnormal', true],
    ['on-abort', true],
    ['always', true],
  ])('follows Restart=%s', (restart, restarts) => {
    expect(plan({ restart })).toMatchObject(stop({ restarts }));
  });

  test('is a stop for a transient unit with Restart= that need not be started again', () => {
    expect(plan({ transient: true, restart: 'always' }, {}, true)).toMatchObject(stop({ restarts: true }));
  });

  test('is a signal for a unit of which nothing is known', () => {
    expect(planUnitStop('batch', '/system.slice/batch', { unit: () => undefined, isProtected: () => true })).toMatchObject(
      signal('unknown', 'batch'),
    );
  });

  test.each<[rule: string, facts: Facts, others: Record<string, Facts | null>, expected: Partial<UnitStop>]>([
    ['another cgroup has its name', { controlGroup: '/workload.slice/batch' }, {}, signal('elsewhere', 'batch')],
    ['systemd reports the unit as inactive: what is left of it', { activeState: 'inactive' }, {}, signal('inactive', 'batch')],
    ['systemd reports the unit as failed', { activeState: 'failed', controlGroup: '' }, {}, signal('inactive', 'batch')],
    ['the unit restarts, and a stop would end it for good', { transient: true, restart: 'always' }, {}, signal('transient', 'batch')],
    ['a stop would end the unit for good, and it does not restart anyway', { transient: true }, {}, stop()],
    ['the unit is already being stopped, and would not have restarted', { activeState: 'deactivating', restart: 'always' }, {}, stop()],
    [
      'a socket that starts one unit for each connection continues to listen',
      { triggeredBy: ['b.socket'] },
      { 'b.socket': { acceptsEach: true } },
      stop(),
    ],
    [
      'a unit that may have ended since it was read is not started again',
      { stopsWith: ['web'] },
      { web: { stale: true } },
      stop({ dependants: ['web'], running: [] }),
    ],
    [
      'a unit that systemd refreshes is started again',
      { stopsWith: ['web'] },
      { web: { activeState: 'refreshing' } },
      stop({ dependants: ['web'], running: ['web'] }),
    ],
    ['a target is not started again', { stopsWith: ['web.target'] }, {}, stop({ dependants: ['web.target'], running: [] })],
    [
      'if the unit is killed systemd also stops the units bound to it',
      { stopsWith: ['web', 'api'], endsWith: ['api'] },
      {},
      { affected: ['api'] },
    ],
    [
      'if the unit is killed and restarts systemd also stops the units that need it',
      { restart: 'always', stopsWith: ['web', 'api'], endsWith: ['api'] },
      {},
      { affected: ['api', 'web'] },
    ],
  ])('%s', (_rule, facts, others, expected) => {
    expect(plan(facts, others)).toMatchObject(expected);
  });
});

const reboots: Facts = { emergencyAction: 'FailureAction=reboot' };
const action = (unit: string): EmergencyAction => ({ kind: 'emergency-action', unit, setting: 'FailureAction=reboot' });

describe('a unit whose end may end the machine', () => {
  test.each<[rule: string, facts: Facts, others: Record<string, Facts | null>, expected: Partial<UnitStop> | EmergencyAction]>([
    ['is never evicted', reboots, {}, action('batch')],
    ['is never evicted, also if it restarts by itself', { ...reboots, restart: 'always' }, {}, action('batch')],
    ['is never evicted, also while it is being stopped', { ...reboots, activeState: 'deactivating' }, {}, action('batch')],
    ['is never evicted with a unit that is bound to it', { stopsWith: ['web'], endsWith: ['web'] }, { web: reboots }, action('web')],
    ['is never evicted with a unit that restarts it', { restart: 'always', stopsWith: ['web'] }, { web: reboots }, action('web')],
    ['is never evicted with a unit that it alone needed', { needs: ['web'] }, { web: { ...unneeded, ...reboots } }, action('web')],
    [
      'would be stopped only with a stop, so evictd sends a signal',
      { stopsWith: ['web'] },
      { web: reboots },
      signal('emergency-action', 'web'),
    ],
    [
      'does not matter while it does not run',
      { stopsWith: ['web'], endsWith: ['web'] },
      { web: { ...reboots, activeState: 'failed' } },
      stop(),
    ],
    ['does not matter when none of its processes runs', { ...reboots, activeState: 'failed' }, {}, signal('inactive', 'batch')],
  ])('%s', (_rule, facts, others, expected) => {
    expect(plan(facts, others)).toMatchObject(expected);
  });
});

test('the reader needs these units before evictd can end a unit', () => {
  const units = new Map([
    ['batch', loaded('batch', { stopsWith: ['web', 'new'], triggeredBy: ['b.socket'] })],
    ['web', loaded('web', { stopsWith: ['proxy', 'batch'], needs: ['batch', 'db', 'later'] })],
    ['db', loaded('db', { unsure: true, stopWhenUnneeded: true, neededBy: ['web', 'other', 'proxy'] })],
    ['other', loaded('other', {})],
    ['proxy', loaded('proxy', { unsure: true })],
    ['b.socket', loaded('b.socket', { unsure: true })],
  ]);
  expect(unitsToRead('batch', { unit: (name) => units.get(name) }).sort()).toEqual(['b.socket', 'later', 'new', 'proxy']);
});

test('a unit that has changed since it was read is read again if it was read before the decision began', () => {
  const units = new Map([['batch', { ...loaded('batch', { stale: true }), readAtNs: 5n }]]);
  const known = { unit: (name: string) => units.get(name) };
  expect([unitsToRead('batch', known), unitsToRead('batch', known, 5n), unitsToRead('batch', known, 6n)]).toEqual([[], [], ['batch']]);
});
