// ResourceClaim and ResourceClaimTemplate (resource.k8s.io/v1, Kubernetes v1.36).
import type { DeviceSelector } from '../../core/devices/device.js';
import type {
  AllocatedDevice,
  Allocation,
  ClaimSpec,
  DeviceConstraint,
  DeviceRequest,
  ExactRequest,
  ResourceClaim,
} from '../../core/devices/resource-claim.js';
import { integerOf, isAbsent, items, member, textOf, wrong, type Field } from '../document.js';
import { nodeSelectorTermsAt } from '../scheduling/label-selector.js';
import { compileSelector } from './device-selector.js';
import { tolerationAt } from '../taint.js';

/** @throws DocumentError  with the path of the problem */
export function resourceClaimAt(claim: Field): ResourceClaim {
  const [metadata, status] = [member(claim, 'metadata'), member(claim, 'status')];
  const owner = items(member(metadata, 'ownerReferences')).find((reference) => member(reference, 'controller').value === true);
  const allocation = member(status, 'allocation');
  return {
    namespace: textOf(member(metadata, 'namespace')) || 'default',
    name: textOf(member(metadata, 'name')),
    spec: claimSpecAt(member(claim, 'spec')),
    ownerUid: owner && textOf(member(owner, 'uid')),
    isDeleting: !isAbsent(member(metadata, 'deletionTimestamp')),
    allocation: isAbsent(allocation) ? undefined : allocationAt(allocation),
    reservedFor: items(member(status, 'reservedFor')).map((consumer) => textOf(member(consumer, 'uid'))),
  };
}

/** The spec of a claim template, by namespace/name. */
export function claimTemplateAt(template: Field): readonly [key: string, spec: ClaimSpec] {
  const metadata = member(template, 'metadata');
  const key = `${textOf(member(metadata, 'namespace')) || 'default'}/${textOf(member(metadata, 'name'))}`;
  return [key, claimSpecAt(member(member(template, 'spec'), 'spec'))];
}

function claimSpecAt(spec: Field): ClaimSpec {
  const devices = member(spec, 'devices');
  const requests = items(member(devices, 'requests'));
  const withCapacity = requests.find((request) => choicesOf(request).some((each) => !isAbsent(member(each, 'capacity'))));
  return {
    requests: requests.map(requestAt),
    constraints: items(member(devices, 'constraints')).map(constraintAt),
    unsupported: withCapacity && `request ${textOf(member(withCapacity, 'name'))}: has capacity requests, which evictd does not simulate`,
  };
}

function choicesOf(request: Field): readonly Field[] {
  return [member(request, 'exactly'), ...items(member(request, 'firstAvailable'))].filter((each) => !isAbsent(each));
}

function requestAt(request: Field): DeviceRequest {
  const name = textOf(member(request, 'name'));
  const exactly = member(request, 'exactly');
  if (!isAbsent(exactly)) return { kind: 'exactly', name, exactly: exactRequestAt(exactly) };
  const list = member(request, 'firstAvailable');
  const firstAvailable = items(list).map((each) => ({ ...exactRequestAt(each), adminAccess: false, name: textOf(member(each, 'name')) }));
  if (firstAvailable.length === 0) throw wrong(request, 'exactly or firstAvailable');
  return { kind: 'firstAvailable', name, firstAvailable };
}

function exactRequestAt(request: Field): ExactRequest {
  const deviceClassName = textOf(member(request, 'deviceClassName'));
  if (deviceClassName === '') throw wrong(member(request, 'deviceClassName'), 'the name of a DeviceClass');
  return {
    deviceClassName,
    selectors: deviceSelectorsAt(member(request, 'selectors')),
    count: countAt(request),
    adminAccess: member(request, 'adminAccess').value === true,
    tolerations: items(member(request, 'tolerations')).map(tolerationAt),
  };
}

function countAt(request: Field): number | 'all' {
  const mode = member(request, 'allocationMode');
  const count = member(request, 'count');
  switch (textOf(mode)) {
    case 'All':
      return 'all';
    case '':
    case 'ExactCount': {
      const devices = Number(integerOf(count, 'int64') ?? 1n);
      if (devices < 1) throw wrong(count, 'a number above 0');
      return devices;
    }
    default:
      throw wrong(mode, 'ExactCount or All');
  }
}

/** The selectors of a request or a DeviceClass. */
export function deviceSelectorsAt(selectors: Field): readonly DeviceSelector[] {
  return items(selectors).map((selector) => {
    const expression = textOf(member(member(selector, 'cel'), 'expression'));
    if (expression === '') throw wrong(member(member(selector, 'cel'), 'expression'), 'a CEL expression');
    return compileSelector(expression);
  });
}

function constraintAt(constraint: Field): DeviceConstraint {
  const requests = items(member(constraint, 'requests')).map(textOf);
  for (const kind of ['matchAttribute', 'distinctAttribute'] as const) {
    const attribute = textOf(member(constraint, kind));
    if (attribute !== '') return { kind, attribute, requests };
  }
  throw wrong(constraint, 'matchAttribute or distinctAttribute');
}

function allocationAt(allocation: Field): Allocation {
  const results = items(member(member(allocation, 'devices'), 'results'));
  return { devices: results.map(allocatedDeviceAt), nodeTerms: nodeSelectorTermsAt(member(allocation, 'nodeSelector')) };
}

function allocatedDeviceAt(result: Field): AllocatedDevice {
  const text = (name: string): string => textOf(member(result, name));
  return {
    ...{ request: text('request'), driver: text('driver'), pool: text('pool'), device: text('device') },
    adminAccess: member(result, 'adminAccess').value === true,
  };
}
