import { admit, applicantOf } from '../../src/features/admission/admission.js';
import { CONDITION_TYPES, type ConditionType } from '../../src/core/signal/signal.js';
import { workloadOfPod } from '../../src/kubernetes/pod.js';
import { isObject, type Json } from './json.js';
import { compareKeys, VectorFormatError, type Check } from './vector.js';

export const checkAdmit: Check = ({ line: { nodeConditions, pod, expect } }) => {
  if (!isObject(pod)) throw new VectorFormatError('"pod" must be an object');
  if (!isObject(expect)) throw new VectorFormatError('"expect" must be an object');
  return compareKeys(expect, { ...admit(conditionsOf(nodeConditions), applicantOf(workloadOfPod(pod))) });
};

function conditionsOf(names: Json | undefined): ConditionType[] {
  if (names === null) return [];
  if (!Array.isArray(names)) throw new VectorFormatError('"nodeConditions" must be a list');
  return names.map((name) => {
    const type = CONDITION_TYPES.find((candidate) => candidate === name);
    if (type === undefined)
      throw new VectorFormatError('"nodeConditions" must be those of eviction: MemoryPressure, DiskPressure, PIDPressure');
    return type;
  });
}
