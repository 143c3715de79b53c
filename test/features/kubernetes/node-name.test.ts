import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodeNameOf } from '../../../src/features/kubernetes/node-name.js';
import { makeCertificates } from '../../support/kubernetes/certificates.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const HOST = hostname().trim().toLowerCase();
const NAME = 'ip-10-0-0-7.eu-central-1.compute.internal';
const KUBELET = makeCertificates(`system:node:${NAME}`, 'system:nodes').client;
const OTHER = makeCertificates('admin', 'system:masters').client;

/** A kubelet's file has the certificate and the key. @returns the path of a kubeconfig beside it */
function kubeconfig(user: object, certificate = KUBELET): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'current.pem'), `${certificate.cert}${certificate.key}`);
  const path = join(directory, 'kubelet.conf');
  const users = [
    { name: 'other', user: {} },
    { name: 'u', user },
  ];
  const contexts = [{ name: 'c', context: { cluster: 'k', user: 'u' } }];
  writeFileSync(path, JSON.stringify({ 'current-context': 'c', contexts, users }));
  return path;
}

const inline = ({ cert }: typeof KUBELET): object => ({ 'client-certificate-data': Buffer.from(cert).toString('base64') });

test.each<[rule: string, path: () => string | undefined, name: string]>([
  ['the file of a kubelet', () => kubeconfig({ 'client-certificate': 'current.pem' }), NAME],
  ['a certificate in the kubeconfig', () => kubeconfig(inline(KUBELET)), NAME],
  ['a certificate of no kubelet', () => kubeconfig(inline(OTHER)), HOST],
  ['a token', () => kubeconfig({ token: 'x' }), HOST],
  ['a certificate that is none', () => kubeconfig({ 'client-certificate-data': 'eA==' }), HOST],
  ['a file that is not there yet', () => kubeconfig({ 'client-certificate': 'next.pem' }), HOST],
  ['a kubeconfig that is not there yet', () => '/nowhere/kubelet.conf', HOST],
  ['a service account', () => undefined, HOST],
])('without a configured name the node has that of %s', (_rule, path, name) => {
  expect(nodeNameOf({ nodeName: undefined, kubeconfig: path() }, {})).toBe(name);
});

test('a configured name comes first, then NODE_NAME', () => {
  const path = kubeconfig(inline(KUBELET));
  expect(nodeNameOf({ nodeName: 'a', kubeconfig: path }, { NODE_NAME: 'b' })).toBe('a');
  expect(nodeNameOf({ nodeName: undefined, kubeconfig: path }, { NODE_NAME: 'b' })).toBe('b');
  expect(nodeNameOf({ nodeName: undefined, kubeconfig: path }, { NODE_NAME: '' })).toBe(NAME);
});
