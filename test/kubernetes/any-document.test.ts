import { fc } from '../support/property.js';
import { describe, expect, test } from 'vitest';
import { DocumentError } from '../../src/errors.js';
import { parseJson } from '../../src/kubernetes/json.js';
import { workloadOfPod } from '../../src/kubernetes/pod.js';
import { usagesIn } from '../../src/kubernetes/stats.js';
import { makeSignalObservations } from '../../src/kubernetes/summary.js';
import { container, podDocument } from './support.js';

const TIME = '2026-01-01T00:00:00Z';

const pod = podDocument({
  metadata: { annotations: { 'kubernetes.io/config.source': 'api' }, creationTimestamp: TIME },
  spec: {
    containers: [container('app', { memory: '1Gi' }, { memory: '1Gi' })],
    initContainers: [{ name: 'init', restartPolicy: 'Always', resources: { requests: { cpu: '1' } } }],
    overhead: { memory: '1Mi' },
    priority: 1,
    priorityClassName: 'c',
    resources: { requests: { memory: '1Gi' }, limits: {} },
    terminationGracePeriodSeconds: 30,
    tolerations: [{ key: 'k' }],
    volumes: [{ name: 'v', emptyDir: { medium: '', sizeLimit: '1Gi' } }],
  },
  status: { qosClass: 'Burstable', startTime: TIME, conditions: [{ type: 't', status: 'True' }] },
});

const filesystem = { time: TIME, availableBytes: 1, capacityBytes: 2, inodesFree: 3, inodes: 4, usedBytes: 5, inodesUsed: 6 };
const memory = { time: TIME, availableBytes: 1, usageBytes: 2, workingSetBytes: 3 };
const summary = {
  node: {
    memory,
    fs: filesystem,
    runtime: { imageFs: filesystem, containerFs: filesystem },
    rlimit: { time: TIME, maxpid: 2, curproc: 1 },
    systemContainers: [{ name: 'pods', memory }],
  },
  pods: [
    {
      podRef: { uid: 'u', name: 'n', namespace: 'd' },
      memory,
      process_stats: { process_count: 1 },
      'ephemeral-storage': filesystem,
      containers: [{ name: 'c', memory, rootfs: filesystem, logs: filesystem }],
      volume: [{ name: 'v', ...filesystem }],
    },
  ],
};

/** What may stand where something else is expected: other types, extreme numbers, words that are almost right. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc.constantFrom('', '-1', '1e4096', '1e9999999999', '0.000000000000000000001', '9999Ei', '2026-02-30T00:00:00Z', 'Always', 'file'),
);

/** The paths of all values of a document, those in between included. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...path, key]))];
}

/** The document with another value at the path. */
function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) return (value as unknown[]).map((item, index) => (String(index) === key ? replaced(item, rest, by) : item));
  const object = value as Readonly<Record<string, unknown>>;
  return { ...object, [key]: replaced(object[key], rest, by) };
}

describe('a document with one value replaced is read, or refused as a document', () => {
  const cases: readonly [name: string, document: unknown, read: (document: unknown) => unknown][] = [
    ['a pod', pod, workloadOfPod],
    ['a node', summary, (document) => makeSignalObservations(document, 'linux')],
    ['statistics', summary, usagesIn],
  ];
  test.each(cases)('%s', (_name, document, read) => {
    expect(() => read(document)).not.toThrow();
    fc.assert(
      fc.property(fc.constantFrom(...pathsOf(document)), anything, (path, by) => {
        try {
          read(replaced(document, path, by));
        } catch (error) {
          expect(error).toBeInstanceOf(DocumentError);
        }
      }),
      { numRuns: 1500 },
    );
  });
});

test('JSON without large integers is parsed as by JSON.parse', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), (text) => {
      const plain: unknown = JSON.parse(text);
      fc.pre(
        JSON.stringify(plain, (_key, value: unknown) => (Number.isInteger(value) && !Number.isSafeInteger(value) ? 'large' : value)) ===
          JSON.stringify(plain),
      );
      expect(parseJson(text)).toEqual(plain);
    }),
  );
});

test('integers of any size are kept exactly', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
      const [read] = parseJson(`[${String(integer)}]`) as readonly (number | bigint)[];
      expect(BigInt(read ?? 0)).toBe(integer);
    }),
  );
});
