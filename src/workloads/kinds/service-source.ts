import { pattern } from '../../config/value/scalar.js';
import type { SourceKind } from './source-kind.js';

export const serviceSource: SourceKind<'service', string> = {
  kind: 'service',
  os: 'windows',
  schema: pattern,
  descriptions: { '': 'Windows: services by name or pattern are workloads.' },
  example: 'a service (service: NAME)',
  text: (name) => `service ${name}`,
  names: (name) => [{ name: `service ${name}`, path: [] }],
  wholeMachine: { 'service *': { what: 'unprotected service of the machine', hint: 'name the services' } },
  found: { in: 'windows', select: (name) => ({ services: [name] }) },
};
