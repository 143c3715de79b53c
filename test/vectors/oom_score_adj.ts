import { containerOomScoreAdj } from './kubelet/container-oom-score.js';
import { workloadOfPod } from '../../src/kubernetes/pod.js';
import { isObject } from './json.js';
import { compareKeys, VectorFormatError, type Check } from './vector.js';

export const checkOomScoreAdj: Check = ({ line }) => {
  const { pod, memoryCapacity, expect } = line;
  if (!isObject(pod) || !isObject(expect)) throw new VectorFormatError('"pod" and "expect" must be objects');
  if (!['string', 'number', 'bigint'].includes(typeof memoryCapacity)) throw new VectorFormatError('"memoryCapacity" must be an integer');
  const { oomScoreAdj, ...others } = expect;
  if (!isObject(oomScoreAdj)) throw new VectorFormatError('"oomScoreAdj" must be an object');

  const workload = workloadOfPod(pod);
  const parts = workload.pod;
  const capacity = BigInt(memoryCapacity as string | number | bigint);
  const scores = Object.fromEntries(
    parts?.containers.map((container) => [container.name, containerOomScoreAdj(workload, parts, container, capacity)]) ?? [],
  );
  return [...compareKeys(others, { qosClass: workload.qosClass }), ...compareKeys(oomScoreAdj, scores)];
};
