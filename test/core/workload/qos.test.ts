import { describe, expect, test } from 'vitest';
import { parseQuantity } from '../../../src/core/quantity/quantity.js';
import { computePodQos } from '../../../src/core/workload/qos.js';
import type { Container, ResourceList } from '../../../src/core/workload/workload.js';

type Amounts = Readonly<Record<string, string>>;

const list = (amounts: Amounts): ResourceList => new Map(Object.entries(amounts).map(([name, text]) => [name, parseQuantity(text)]));
const resources = (requests: Amounts, limits: Amounts) => ({ requests: list(requests), limits: list(limits) });
const container = (requests: Amounts, limits: Amounts, kind: Container['kind'] = 'regular'): Container => ({
  name: 'c',
  kind,
  ...resources(requests, limits),
});

const both = { cpu: '1', memory: '1Gi' };
const twice = { cpu: '2', memory: '2Gi' };

describe('the QoS class by the containers', () => {
  test.each<[rule: string, containers: readonly Container[], qosClass: string]>([
    ['there is no container', [], 'BestEffort'],
    ['there are no requests and no limits', [container({}, {})], 'BestEffort'],
    ['zero is nothing', [container({ cpu: '0' }, { memory: '0' })], 'BestEffort'],
    ['other resources do not count', [container({ 'ephemeral-storage': '1Gi' }, { 'example.com/gpu': '1' })], 'BestEffort'],
    ['a request', [container({ memory: '1' }, {})], 'Burstable'],
    ['a limit', [container({}, { cpu: '1' })], 'Burstable'],
    ['requests equal limits', [container(both, both)], 'Guaranteed'],
    ['equal in value', [container({ cpu: '1000m', memory: '1024Mi' }, both)], 'Guaranteed'],
    ['a byte less', [container({ cpu: '1', memory: '1073741823' }, both)], 'Burstable'],
    ['only memory is set, with request equal to limit', [container({ memory: '1Gi' }, { memory: '1Gi' })], 'Burstable'],
    ['limits alone: the API would have copied them to the requests', [container({}, both)], 'Burstable'],
    ['there is no cpu request', [container({ memory: '1Gi' }, both)], 'Burstable'],
    ['an init container without counts', [container(both, both), container({}, {}, 'init')], 'Burstable'],
    ['a sidecar has equal requests and limits', [container(both, both), container(both, both, 'sidecar')], 'Guaranteed'],
    ['sums are compared, not the containers', [container(both, twice), container(twice, both)], 'Guaranteed'],
  ])('%s', (_rule, containers, qosClass) => {
    expect(computePodQos(containers, undefined)).toBe(qosClass);
  });
});

describe('the QoS class by the pod-level resources', () => {
  test.each<[rule: string, requests: Amounts, limits: Amounts, qosClass: string]>([
    ['set and empty: the containers do not count', {}, {}, 'BestEffort'],
    ['other resources do not count', { 'hugepages-2Mi': '4Mi' }, {}, 'BestEffort'],
    ['a request', { cpu: '1' }, {}, 'Burstable'],
    ['requests equal limits', both, both, 'Guaranteed'],
    ['limits alone', {}, both, 'Burstable'],
  ])('%s', (_rule, requests, limits, qosClass) => {
    const other = qosClass === 'Guaranteed' ? container({ cpu: '1' }, {}) : container(both, both);
    expect(computePodQos([other], resources(requests, limits))).toBe(qosClass);
  });
});
