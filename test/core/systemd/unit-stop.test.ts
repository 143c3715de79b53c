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

describe('how a unit is ended', () => {
  test.each<[rule: string, facts: Facts, others: Record<string, Facts | null>, expected: Partial<UnitStop> | ProtectedDependant]>([
    ['nothing hangs on it', {}, {}, stop()],
    ['what hangs on it is stopped with it', { stopsWith: ['web', 'api'] }, {}, stop({ dependants: ['api', 'web'] })],
    ['… and what hangs on that', { stopsWith: ['web'] }, { web: { stopsWith: ['proxy'] } }, stop({ dependants: ['proxy', 'web'] })],
    ['a dependent unit that does not run is not stopped', { stopsWith: ['web'] }, { web: { activeState: 'inactive' } }, stop()],
    [
      '… and the stop goes on through it',
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
    ['a socket that does not listen will not', { triggeredBy: ['b.socket'] }, { 'b.socket': { activeState: 'inactive' } }, stop()],
    [
      'what hangs on its socket goes with it, too',
      { triggeredBy: ['b.socket'] },
      { 'b.socket': { stopsWith: ['batch', 'web'] } },
      stop({ triggers: ['b.socket'], dependants: ['web'] }),
    ],
    [
      'a socket that hangs on it is named once',
      { triggeredBy: ['b.socket'], stopsWith: ['b.socket'] },
      {},
      stop({ triggers: ['b.socket'] }),
    ],

    ['a protected one would be stopped with it', { stopsWith: ['dear'] }, {}, signal('protected', 'dear')],
    ['… further on', { stopsWith: ['web'] }, { web: { stopsWith: ['dear'] } }, signal('protected', 'dear')],
    ['… with its socket', { triggeredBy: ['b.socket'] }, { 'b.socket': { stopsWith: ['dear'] } }, signal('protected', 'dear')],
    ['its socket is protected', { triggeredBy: ['dear.socket'] }, {}, signal('protected', 'dear.socket')],
    [
      'one that asks to be omitted is protected, too',
      { stopsWith: ['web'] },
      { web: { managedOomPreference: 'omit' } },
      signal('protected', 'web'),
    ],
    [
      '… one that asks to be avoided is not',
      { stopsWith: ['web'] },
      { web: { managedOomPreference: 'avoid' } },
      stop({ dependants: ['web'] }),
    ],
    ['the protected one does not run', { stopsWith: ['dear'] }, { dear: { activeState: 'inactive' } }, stop()],
    ['… as of a while ago', { stopsWith: ['dear'] }, { dear: { activeState: 'inactive', stale: true } }, signal('protected', 'dear')],

    [
      'bound to it: systemd stops it however this one ends',
      { stopsWith: ['dear'], endsWith: ['dear'] },
      {},
      protectedDependant('dear', 'stops'),
    ],
    [
      '… and what hangs on what is bound to it',
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
      '… but not the units that stop with its socket',
      { restart: 'always', triggeredBy: ['b.socket'] },
      { 'b.socket': { stopsWith: ['dear'] } },
      signal('protected', 'dear'),
    ],

    ['a unit that needs it keeps running, needed or not', { needs: ['db'] }, { db: { neededBy: ['batch'] } }, stop()],
    [
      'what was there for this one alone is stopped afterwards, with what hangs on that',
      { needs: ['db'] },
      { db: { ...unneeded, stopsWith: ['batch', 'web'] } },
      stop({ dependants: ['db', 'web'] }),
    ],
    [
      '… and what was there for that alone',
      { needs: ['db'] },
      { db: { ...unneeded, needs: ['disk'] }, disk: { stopWhenUnneeded: true, neededBy: ['db'] } },
      stop({ dependants: ['db', 'disk'] }),
    ],
    ['… a unit that another one needs is not', { needs: ['db'] }, { db: { stopWhenUnneeded: true, neededBy: ['batch', 'web'] } }, stop()],
    [
      '… unless he goes, too',
      { needs: ['db'], stopsWith: ['web'] },
      { db: { stopWhenUnneeded: true, neededBy: ['batch', 'web'] } },
      stop({ dependants: ['db', 'web'] }),
    ],
    [
      '… or does not run',
      { needs: ['db'] },
      { db: { stopWhenUnneeded: true, neededBy: ['batch', 'web'] }, web: { activeState: 'inactive' } },
      stop({ dependants: ['db'] }),
    ],
    [
      '… or nothing is known of him',
      { needs: ['dear'] },
      { dear: { stopWhenUnneeded: true, neededBy: ['batch', 'web'] }, web: null },
      protectedDependant('dear', 'stops'),
    ],
    ['a protected one was there for this one alone', { needs: ['dear'] }, { dear: unneeded }, protectedDependant('dear', 'stops')],
    [
      '… which systemd needs on where it starts this one again',
      { needs: ['dear'], restart: 'always' },
      { dear: unneeded },
      signal('protected', 'dear'),
    ],
    [
      'a protected one was there for what hangs on this one',
      { stopsWith: ['web'] },
      { web: { needs: ['dear'] }, dear: { stopWhenUnneeded: true, neededBy: ['web'] } },
      signal('protected', 'dear'),
    ],

    ['nothing is known of what hangs on it', { stopsWith: ['web'] }, { web: null }, signal('unknown', 'web')],
    ['more may hang on it by now', { unsure: true }, {}, signal('unsure', 'batch')],
    ['… or on what hangs on it', { stopsWith: ['web'] }, { web: { unsure: true } }, signal('unsure', 'web')],
    ['… which makes no difference where it is signalled anyway', { unsure: true, stopsWith: ['dear'] }, {}, signal('protected', 'dear')],
    ['nothing is known of a protected one, but its name', { stopsWith: ['dear'] }, { dear: null }, signal('protected', 'dear')],
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
  ])('Restart=%s', (restart, restarts) => {
    expect(plan({ restart })).toMatchObject(stop({ restarts }));
  });

  test('a transient unit that restarts is stopped if it need not come back', () => {
    expect(plan({ transient: true, restart: 'always' }, {}, true)).toMatchObject(stop({ restarts: true }));
  });

  test('a unit of which nothing is known is signalled', () => {
    expect(planUnitStop('batch', '/system.slice/batch', { unit: () => undefined, isProtected: () => true })).toMatchObject(
      signal('unknown', 'batch'),
    );
  });

  test.each<[rule: string, facts: Facts, others: Record<string, Facts | null>, expected: Partial<UnitStop>]>([
    ['another cgroup has its name', { controlGroup: '/workload.slice/batch' }, {}, signal('elsewhere', 'batch')],
    ['systemd reports the unit as inactive: what is left of it', { activeState: 'inactive' }, {}, signal('inactive', 'batch')],
    ['… or it has failed', { activeState: 'failed', controlGroup: '' }, {}, signal('inactive', 'batch')],
    ['it restarts, and would be gone for good', { transient: true, restart: 'always' }, {}, signal('transient', 'batch')],
    ['it would be gone for good, and does not restart anyway', { transient: true }, {}, stop()],
    ['it is being stopped already: it would not have restarted', { activeState: 'deactivating', restart: 'always' }, {}, stop()],
    [
      'a socket that starts one unit for each connection goes on',
      { triggeredBy: ['b.socket'] },
      { 'b.socket': { acceptsEach: true } },
      stop(),
    ],
    [
      'a unit that may not run any more is not started again',
      { stopsWith: ['web'] },
      { web: { stale: true } },
      stop({ dependants: ['web'], running: [] }),
    ],
    ['a target is not started again', { stopsWith: ['web.target'] }, {}, stop({ dependants: ['web.target'], running: [] })],
    [
      'if it is killed, systemd also stops the units bound to it',
      { stopsWith: ['web', 'api'], endsWith: ['api'] },
      {},
      { affected: ['api'] },
    ],
    [
      '… and all that needs it where it restarts',
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

describe('a unit whose end may be the one of the machine', () => {
  test.each<[rule: string, facts: Facts, others: Record<string, Facts | null>, expected: Partial<UnitStop> | EmergencyAction]>([
    ['is never evicted', reboots, {}, action('batch')],
    ['… nor where it restarts by itself', { ...reboots, restart: 'always' }, {}, action('batch')],
    ['… nor while it is being stopped', { ...reboots, activeState: 'deactivating' }, {}, action('batch')],
    ['… nor is what it is bound to', { stopsWith: ['web'], endsWith: ['web'] }, { web: reboots }, action('web')],
    ['… nor what restarts it', { restart: 'always', stopsWith: ['web'] }, { web: reboots }, action('web')],
    ['… nor the unit that it alone needed', { needs: ['web'] }, { web: { ...unneeded, ...reboots } }, action('web')],
    ['only a stop would stop it, too', { stopsWith: ['web'] }, { web: reboots }, signal('emergency-action', 'web')],
    ['it does not run', { stopsWith: ['web'], endsWith: ['web'] }, { web: { ...reboots, activeState: 'failed' } }, stop()],
    ['nothing of it runs any more', { ...reboots, activeState: 'failed' }, {}, signal('inactive', 'batch')],
  ])('%s', (_rule, facts, others, expected) => {
    expect(plan(facts, others)).toMatchObject(expected);
  });
});

test('the units that must be read before a unit can be ended', () => {
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

test('… and a unit that has changed since it was read, if it was read before the decision began', () => {
  const units = new Map([['batch', { ...loaded('batch', { stale: true }), readAtNs: 5n }]]);
  const known = { unit: (name: string) => units.get(name) };
  expect([unitsToRead('batch', known), unitsToRead('batch', known, 5n), unitsToRead('batch', known, 6n)]).toEqual([[], [], ['batch']]);
});
