import { describe, expect, test } from 'vitest';
import { allocate, type DeviceSupply } from '../../../src/core/devices/allocate.js';
import { SelectorError, type DeviceSelector, type NodeSelection } from '../../../src/core/devices/device.js';
import type { ClaimSpec } from '../../../src/core/devices/resource-claim.js';
import { claim, consumes, counters, device, firstOf, node, ofModel, request, slice, spec, supply } from './claim-support.js';

const GiB = 1_073_741_824_000_000_000n;

/** The devices of all claims: 'request=device'; or the message. */
function given(from: DeviceSupply, specs: readonly ClaimSpec[], where = node()): readonly string[] | string {
  const outcome = allocate(
    specs.map((each, index) => claim(`claim-${String(index)}`, each)),
    from,
    where,
  );
  if (outcome.kind !== 'allocated') return `${outcome.kind}: ${outcome.message}`;
  return outcome.allocations.flatMap(({ devices }) => devices.map((each) => `${each.request}=${each.device}`));
}

const CANNOT = 'none: cannot allocate all claims';
const three = slice([device('a', { model: 'small' }), device('b', { model: 'large' }), device('c', { model: 'large' })]);
const taint = (effect: 'NoSchedule' | 'NoExecute') => [{ key: 'example.com/unhealthy', value: 'yes', effect }];
const tolerates = (effect = '') => ({ tolerations: [{ key: 'example.com/unhealthy', operator: 'Exists', value: '', effect }] });
const match = (requests: readonly string[] = []) => ({
  constraints: [{ kind: 'matchAttribute', attribute: 'gpu.example.com/model', requests } as const],
});
const distinct = { constraints: [{ kind: 'distinctAttribute', attribute: 'gpu.example.com/model', requests: [] } as const] };

type Row = [rule: string, supply: DeviceSupply, specs: readonly ClaimSpec[], given: readonly string[] | string];

test.each<Row>([
  ['the first device of the slice', supply([three]), [spec([request('gpu')])], ['gpu=a']],
  ['a device in use is left out', supply([three], ['gpu.example.com/pool-1/a']), [spec([request('gpu')])], ['gpu=b']],
  ['the class selects, too', supply([three], [], [{ name: 'gpu', selectors: [ofModel('large')] }]), [spec([request('gpu')])], ['gpu=b']],
  ['one request gets several devices', supply([three]), [spec([request('gpu', { count: 2 })])], ['gpu=a', 'gpu=b']],
  ['a request for more devices than exist is refused', supply([three]), [spec([request('gpu', { count: 4 })])], CANNOT],
  [
    'an earlier request gives way',
    supply([three]),
    [spec([request('any'), request('small', { selectors: [ofModel('small')] })])],
    ['any=b', 'small=a'],
  ],
  [
    'an earlier claim gives way',
    supply([three]),
    [spec([request('any')]), spec([request('small', { selectors: [ofModel('small')] })])],
    ['any=b', 'small=a'],
  ],
  ['pools by name', supply([slice([device('x')], { poolName: 'pool-2' }), three]), [spec([request('gpu')])], ['gpu=a']],
  [
    'drivers before pools',
    supply([slice([device('x')], { driver: 'a.example.com', poolName: 'pool-2' }), three]),
    [spec([request('gpu')])],
    ['gpu=x'],
  ],
  [
    'slices by name',
    supply([slice([device('y')], { name: 's-2', slices: 2n }), slice([device('x')], { name: 's-1', slices: 2n })]),
    [spec([request('gpu')])],
    ['gpu=x'],
  ],

  [
    'All: the request gets every device that matches',
    supply([three]),
    [spec([request('gpu', { count: 'all', selectors: [ofModel('large')] })])],
    ['gpu=b', 'gpu=c'],
  ],
  ['All: one of the devices is in use', supply([three], ['gpu.example.com/pool-1/c']), [spec([request('gpu', { count: 'all' })])], CANNOT],
  [
    'All: at least one device must exist',
    supply([three]),
    [spec([request('gpu', { count: 'all', selectors: [ofModel('none')] })])],
    CANNOT,
  ],
  [
    'All: one of the devices is tainted',
    supply([slice([device('a'), device('b', { taints: taint('NoSchedule') })])]),
    [spec([request('gpu', { count: 'all' })])],
    CANNOT,
  ],

  [
    'admin access is given to a device that is in use',
    supply([three], ['gpu.example.com/pool-1/a']),
    [spec([request('gpu', { adminAccess: true })])],
    ['gpu=a'],
  ],
  [
    'admin access: not twice in a claim',
    supply([three]),
    [spec([request('one', { adminAccess: true }), request('two', { adminAccess: true })])],
    ['one=a', 'two=b'],
  ],
  [
    'admin access: beside another claim',
    supply([three]),
    [spec([request('one')]), spec([request('two', { adminAccess: true })])],
    ['one=a', 'two=a'],
  ],

  [
    'NoSchedule is not tolerated',
    supply([slice([device('a', { taints: taint('NoSchedule') }), device('b')])]),
    [spec([request('gpu')])],
    ['gpu=b'],
  ],
  [
    'NoExecute is tolerated',
    supply([slice([device('a', { taints: taint('NoExecute') })])]),
    [spec([request('gpu', tolerates())])],
    ['gpu=a'],
  ],
  [
    'a taint with another effect is tolerated',
    supply([slice([device('a', { taints: taint('NoExecute') })])]),
    [spec([request('gpu', tolerates('NoSchedule'))])],
    CANNOT,
  ],
  [
    'admin access does not tolerate',
    supply([slice([device('a', { taints: taint('NoSchedule') })])]),
    [spec([request('gpu', { adminAccess: true })])],
    CANNOT,
  ],

  ['matchAttribute: the next device that agrees', supply([three]), [spec([request('gpu', { count: 2 })], match())], ['gpu=b', 'gpu=c']],
  ['matchAttribute: across requests', supply([three]), [spec([request('one'), request('two')], match())], ['one=b', 'two=c']],
  [
    'matchAttribute: only of requests that it names',
    supply([three]),
    [spec([request('one'), request('two')], match(['one']))],
    ['one=a', 'two=b'],
  ],
  ['matchAttribute: a device without it', supply([slice([device('a')])]), [spec([request('gpu')], match())], CANNOT],
  [
    'matchAttribute: a list is named as a whole',
    supply([three]),
    [spec([firstOf('list', { name: 'x' }), request('two')], match(['list', 'two']))],
    ['list/x=b', 'two=c'],
  ],
  [
    'matchAttribute: the devices have one common entry of a list',
    supply([three]),
    [spec([firstOf('list', { name: 'x' }), request('two')], match(['list/y', 'two']))],
    ['list/x=a', 'two=b'],
  ],
  ['distinctAttribute', supply([three]), [spec([request('gpu', { count: 2 })], distinct)], ['gpu=a', 'gpu=b']],
  ['distinctAttribute: not enough values', supply([three]), [spec([request('gpu', { count: 3 })], distinct)], CANNOT],
  [
    'All against a constraint is an error',
    supply([three]),
    [spec([request('gpu', { count: 'all' })], match())],
    'error: claim default/claim-0, request gpu: cannot add device gpu.example.com/pool-1/b because a claim constraint would not be satisfied',
  ],

  [
    'the first of a list',
    supply([three]),
    [spec([firstOf('list', { name: 'large', selectors: [ofModel('large')] }, { name: 'any' })])],
    ['list/large=b'],
  ],
  [
    'the second of a list',
    supply([three]),
    [spec([firstOf('list', { name: 'huge', selectors: [ofModel('huge')] }, { name: 'any' })])],
    ['list/any=a'],
  ],
  [
    'a list gives way',
    supply([three], ['gpu.example.com/pool-1/c']),
    [
      spec([
        firstOf('list', { name: 'large', selectors: [ofModel('large')] }, { name: 'any' }),
        request('large', { selectors: [ofModel('large')] }),
      ]),
    ],
    ['list/any=a', 'large=b'],
  ],

  [
    '32 devices are the most',
    supply([slice(Array.from({ length: 40 }, (_, index) => device(`d-${String(index)}`)))]),
    [spec([request('gpu', { count: 33 })])],
    'error: claim default/claim-0: number of requested devices 33 exceeds the claim limit of 32',
  ],
  [
    'an entry of a list with more than 32',
    supply([slice(Array.from({ length: 40 }, (_, index) => device(`d-${String(index)}`)))]),
    [spec([firstOf('list', { name: 'all', count: 'all' }, { name: 'one' })])],
    ['list/one=d-0'],
  ],
  [
    'a class that does not exist',
    supply([three]),
    [spec([request('gpu', { deviceClassName: 'fpga' })])],
    'error: claim default/claim-0, request gpu: could not retrieve device class fpga: not found',
  ],
  [
    'a device with a feature that is not in',
    supply([slice([device('a', { unsupported: 'bindingConditions' }), device('b')])]),
    [spec([request('gpu')])],
    ['gpu=b'],
  ],
  [
    'a claim with a feature that is not in',
    supply([three]),
    [spec([request('gpu')], { unsupported: 'capacity is not in' })],
    'error: claim default/claim-0: capacity is not in',
  ],
])('%s', (_rule, from, specs, expected) => {
  expect(given(from, specs)).toEqual(expected);
});

describe('shared counters', () => {
  const card = slice([], { name: 'counters', slices: 2n, sharedCounters: [{ name: 'card', counters: counters({ memory: 8n * GiB }) }] });
  const parts = slice(
    [
      device('whole', { consumesCounters: consumes({ memory: 8n * GiB }) }),
      device('half-0', { consumesCounters: consumes({ memory: 4n * GiB }) }),
      device('half-1', { consumesCounters: consumes({ memory: 4n * GiB }) }),
    ],
    { name: 'devices', slices: 2n },
  );
  const two = [spec([request('gpu', { count: 2 })])];

  test.each<Row>([
    ['the parts fit, the whole beside a part does not', supply([card, parts]), two, ['gpu=half-0', 'gpu=half-1']],
    [
      'a part of a device in use leaves the counters for one more',
      supply([card, parts], ['gpu.example.com/pool-1/half-1']),
      [spec([request('gpu')])],
      ['gpu=half-0'],
    ],
    ['the whole in use leaves none', supply([card, parts], ['gpu.example.com/pool-1/whole']), [spec([request('gpu')])], CANNOT],
    ['across claims', supply([card, parts]), [spec([request('one')]), spec([request('two')])], ['one=half-0', 'two=half-1']],
    ['without the slice that has the counters the pool is incomplete', supply([parts]), [spec([request('gpu')])], CANNOT],
    [
      'a counter that does not exist makes the pool invalid',
      supply([card, { ...parts, devices: [device('a', { consumesCounters: consumes({ engines: 1n }) })] }]),
      [spec([request('gpu')])],
      'none: invalid resource pools were encountered',
    ],
  ])('%s', (_rule, from, specs, expected) => {
    expect(given(from, specs)).toEqual(expected);
  });
});

describe('pools of devices', () => {
  const all = [spec([request('gpu', { count: 'all' })])];
  const one = [spec([request('gpu')])];
  const elsewhere = { nodes: { kind: 'node', name: 'node-2' } } as const;

  test.each<Row>([
    ['an older generation is left out', supply([slice([device('old')]), slice([device('new')], { generation: 2n })]), one, ['gpu=new']],
    [
      'a newer generation on another node only',
      supply([slice([device('old')]), slice([device('new')], { generation: 2n, ...elsewhere })]),
      one,
      CANNOT,
    ],
    [
      'an incomplete pool is left out',
      supply([slice([device('x')], { slices: 2n }), slice([device('y')], { poolName: 'pool-2' })]),
      one,
      ['gpu=y'],
    ],
    [
      'All of an incomplete pool is refused',
      supply([slice([device('x')], { slices: 2n })]),
      all,
      'error: claim default/claim-0, request gpu: asks for all devices, but resource pool gpu.example.com/pool-1 is currently being updated',
    ],
    [
      'a pool is complete with slices of other nodes',
      supply([slice([device('x')], { slices: 2n }), slice([device('y')], { name: 'other', slices: 2n, ...elsewhere })]),
      all,
      ['gpu=x'],
    ],
    ['two devices have one name', supply([slice([device('x'), device('x')])]), one, 'none: invalid resource pools were encountered'],
  ])('%s', (_rule, from, specs, expected) => {
    expect(given(from, specs)).toEqual(expected);
  });

  const zone = { kind: 'selector', terms: [{ expressions: [{ key: 'zone', operator: 'In', values: ['a'] }], fields: [] }] } as const;
  const here = [{ expressions: [], fields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] }];

  test.each<[rule: string, nodes: NodeSelection, fits: boolean, terms: unknown]>([
    ['nodeName', { kind: 'node', name: 'node-1' }, true, here],
    ['a slice with another nodeName does not count', { kind: 'node', name: 'node-2' }, false, undefined],
    ['allNodes', { kind: 'all' }, true, undefined],
    ['nodeSelector', zone, true, zone.terms],
    ['a field that is not known', { kind: 'none' }, false, undefined],
  ])('a slice and a device that name nodes: %s', (_rule, nodes, fits, terms) => {
    for (const from of [
      supply([slice([device('x')], { nodes })]),
      supply([slice([device('w', { nodes: { kind: 'node', name: 'node-9' } }), device('x', { nodes })], { nodes: { kind: 'perDevice' } })]),
    ]) {
      const outcome = allocate([claim('c', spec([request('gpu')]))], from, node('node-1', { zone: 'a' }));
      expect(outcome.kind).toBe(fits ? 'allocated' : 'none');
      if (outcome.kind === 'allocated')
        expect(outcome.allocations.map(({ devices: [first], nodeTerms }) => [first?.device, nodeTerms])).toEqual([['x', terms]]);
    }
    expect(given(supply([slice([device('x')], { nodes: zone })]), one, node('node-1', { zone: 'b' }))).toBe(CANNOT);
  });
});

test('an expression that fails is an error of its class or claim, and only where it is needed', () => {
  const broken: DeviceSelector = () => {
    throw new SelectorError('compile', 'compilation failed: no such function');
  };
  const onB: DeviceSelector = ({ device: { name } }) => {
    if (name === 'b') throw new SelectorError('runtime', 'no such key: model');
    return name === 'a';
  };
  const gpu = [spec([request('gpu')])];
  expect(given(supply([three], [], [{ name: 'gpu', selectors: [() => true, broken] }]), gpu)).toBe(
    'error: class gpu: selector #1: CEL compile error: compilation failed: no such function',
  );
  const selected = [spec([request('gpu', { selectors: [onB] })])];
  expect(given(supply([three]), selected)).toEqual(['gpu=a']);
  expect(given(supply([three], ['gpu.example.com/pool-1/a']), selected)).toBe(
    'error: claim default/claim-0: selector #0 on device gpu.example.com/pool-1/b: CEL runtime error: no such key: model',
  );
});

test('a search that takes too long is given up after the same number of attempts each time', () => {
  const devices = Array.from({ length: 30 }, (_, index) => device(`d-${String(index)}`, { model: String(index % 15) }));
  const answer = given(supply([slice(devices)]), [spec([request('gpu', { count: 16 })], distinct)]);
  expect(answer).toBe('none: timed out trying to allocate devices');
});
