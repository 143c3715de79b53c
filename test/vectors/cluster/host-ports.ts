// Ports of the node that pods bind (pkg/scheduler/framework, HostPortInfo, v1.36.2).
import { integerOf, items, member, textOf, type Field } from '../../../src/kubernetes/document.js';

const ANY_ADDRESS = '0.0.0.0';

export interface HostPort {
  readonly address: string;
  readonly protocol: string;
  readonly port: bigint;
}

/** Of containers and sidecars. */
export function hostPortsAt(spec: Field): readonly HostPort[] {
  const sidecars = items(member(spec, 'initContainers')).filter((container) => textOf(member(container, 'restartPolicy')) === 'Always');
  return [...items(member(spec, 'containers')), ...sidecars]
    .flatMap((container) => items(member(container, 'ports')))
    .map((port) => ({
      address: textOf(member(port, 'hostIP')) || ANY_ADDRESS,
      protocol: textOf(member(port, 'protocol')) || 'TCP',
      port: integerOf(member(port, 'hostPort'), 'int32') ?? 0n,
    }))
    .filter(({ port }) => port > 0n);
}

/** The same protocol and port, and one address or the other stands for all. */
export function conflicts(one: HostPort, other: HostPort): boolean {
  return (
    one.port === other.port &&
    one.protocol === other.protocol &&
    (one.address === other.address || one.address === ANY_ADDRESS || other.address === ANY_ADDRESS)
  );
}
