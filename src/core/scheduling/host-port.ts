// Ports of the node that pods bind (pkg/scheduler/framework, HostPortInfo, v1.36.2).

export const ANY_ADDRESS = '0.0.0.0';

export interface HostPort {
  readonly address: string;
  readonly protocol: string;
  readonly port: number;
}

/** Whether protocol and port are equal, and the addresses are equal or one stands for all addresses. */
export function conflicts(one: HostPort, other: HostPort): boolean {
  return (
    one.port === other.port &&
    one.protocol === other.protocol &&
    (one.address === other.address || one.address === ANY_ADDRESS || other.address === ANY_ADDRESS)
  );
}
