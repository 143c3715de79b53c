// ResourceSlice and DeviceClass (resource.k8s.io/v1, Kubernetes v1.36).
import type { Taint } from '../../core/disruption/taint.js';
import type { AttributeValue, Counters, Device, DeviceClass, NodeSelection, ResourceSlice } from '../../core/devices/device.js';
import type { Quantity } from '../../core/quantity/quantity.js';
import { integerOf, isAbsent, items, member, members, quantityOf, textOf, wrong, type Field } from '../document.js';
import { nodeSelectorTermsAt } from '../scheduling/label-selector.js';
import { deviceSelectorsAt } from './claim-document.js';

/** @throws DocumentError  with the path of the problem */
export function deviceClassAt(deviceClass: Field): DeviceClass {
  const selectors = member(member(deviceClass, 'spec'), 'selectors');
  return { name: textOf(member(member(deviceClass, 'metadata'), 'name')), selectors: deviceSelectorsAt(selectors) };
}

/** @throws DocumentError  with the path of the problem */
export function resourceSliceAt(slice: Field): ResourceSlice {
  const spec = member(slice, 'spec');
  const pool = member(spec, 'pool');
  return {
    name: textOf(member(member(slice, 'metadata'), 'name')),
    driver: required(member(spec, 'driver'), 'the name of a driver'),
    pool: {
      name: required(member(pool, 'name'), 'the name of a pool'),
      generation: integerOf(member(pool, 'generation'), 'int64') ?? 0n,
      resourceSliceCount: integerOf(member(pool, 'resourceSliceCount'), 'int64') ?? 0n,
    },
    nodes: member(spec, 'perDeviceNodeSelection').value === true ? { kind: 'perDevice' } : nodeSelectionAt(spec),
    devices: items(member(spec, 'devices')).map(deviceAt),
    sharedCounters: items(member(spec, 'sharedCounters')).map((set) => ({
      name: textOf(member(set, 'name')),
      counters: countersAt(member(set, 'counters')),
    })),
  };
}

function required(field: Field, wanted: string): string {
  const text = textOf(field);
  if (text === '') throw wrong(field, wanted);
  return text;
}

/** The nodes of a slice or a device. */
function nodeSelectionAt(field: Field): NodeSelection {
  const name = textOf(member(field, 'nodeName'));
  if (name !== '') return { kind: 'node', name };
  if (member(field, 'allNodes').value === true) return { kind: 'all' };
  const terms = nodeSelectorTermsAt(member(field, 'nodeSelector'));
  return terms === undefined ? { kind: 'none' } : { kind: 'selector', terms };
}

function deviceAt(device: Field): Device {
  const attributes = members(member(device, 'attributes')).map(([name, attribute]) => [name, attributeAt(attribute)] as const);
  const lists = attributes
    .filter(([, value]) => value === undefined)
    .map(([name]) => `attribute ${name}, which has no value of a known type`);
  const features = ['bindingConditions', 'allowMultipleAllocations', 'bindsToNode'].filter((name) => isSet(member(device, name)));
  return {
    name: required(member(device, 'name'), 'the name of a device'),
    attributes: new Map(attributes.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))),
    capacity: new Map(members(member(device, 'capacity')).map(([name, capacity]) => [name, amountAt(member(capacity, 'value'))])),
    taints: items(member(device, 'taints')).flatMap(taintAt),
    consumesCounters: items(member(device, 'consumesCounters')).map((consumption) => ({
      counterSet: textOf(member(consumption, 'counterSet')),
      counters: countersAt(member(consumption, 'counters')),
    })),
    nodes: nodeSelectionAt(device),
    unsupported: [...features, ...lists][0],
  };
}

function isSet({ value }: Field): boolean {
  return value === true || (Array.isArray(value) && value.length > 0);
}

/** undefined: none of the types of v1.36. */
function attributeAt(attribute: Field): AttributeValue | undefined {
  const [int, bool] = [integerOf(member(attribute, 'int'), 'int64'), member(attribute, 'bool')];
  if (int !== undefined) return { kind: 'int', value: int };
  if (typeof bool.value === 'boolean') return { kind: 'bool', value: bool.value };
  for (const kind of ['string', 'version'] as const) {
    const value = member(attribute, kind);
    if (!isAbsent(value)) return { kind, value: textOf(value) };
  }
  return undefined;
}

function amountAt(value: Field): Quantity {
  const amount = isAbsent(value) ? undefined : quantityOf(value);
  if (amount === undefined) throw wrong(value, 'an amount such as "40Gi"');
  return amount;
}

function countersAt(counters: Field): Counters {
  return new Map(members(counters).map(([name, counter]) => [name, amountAt(member(counter, 'value')).nano]));
}

/** Other effects, such as None, keep no claim away. */
function taintAt(taint: Field): readonly Taint[] {
  const effect = textOf(member(taint, 'effect'));
  if (effect !== 'NoSchedule' && effect !== 'NoExecute') return [];
  return [{ key: textOf(member(taint, 'key')), value: textOf(member(taint, 'value')), effect }];
}
