import { NODE } from './api-server.js';
import type { ApiObject } from './objects.js';

/** A pod of the node as the API has it, with what evictd does not read. */
export function aPod(name: string, more: { metadata?: object; spec?: object; status?: object } = {}): ApiObject {
  const metadata = {
    name,
    namespace: 'default',
    uid: `uid-${name}`,
    labels: { app: name },
    managedFields: [{ manager: 'kubelet' }],
    ...more.metadata,
  };
  const container = {
    name: 'main',
    image: 'registry.example.com/app:1',
    env: [{ name: 'A', value: 'b' }],
    resources: { requests: { memory: '64Mi' } },
  };
  const spec = {
    nodeName: NODE,
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    priority: 5,
    containers: [container],
    ...more.spec,
  };
  const status = {
    phase: 'Running',
    startTime: '2026-01-02T03:04:05Z',
    containerStatuses: [{ name: 'main', ready: true, restartCount: 0, image: container.image, imageID: '' }],
    ...more.status,
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec, status };
}
