import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

/** An X.509 certificate and its key, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'));
const COMMON_NAME = oid('550403');
const ORGANISATION = oid('55040a');

/** A certificate of its own authority, for 127.0.0.1, [::1] and localhost, and for a client: `name` in the group `organisation`. */
export function makeCertificates(
  name: string,
  organisation: string,
): { readonly ca: string; readonly server: Certificate; readonly client: Certificate } {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = distinguished('evictd test authority');
  const of = (subject: Buffer, keys: { publicKey: KeyObject; privateKey: KeyObject }, extensions: Buffer[]): Certificate => ({
    cert: certificate(issuer, subject, keys.publicKey, authority.privateKey, extensions),
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  });
  const fresh = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const isAuthority = extension('551d13', sequence(der(0x01, Buffer.from([0xff]))));
  const names = sequence(
    der(0x82, Buffer.from('localhost')),
    der(0x87, Buffer.from([127, 0, 0, 1])),
    der(0x87, Buffer.from('00000000000000000000000000000001', 'hex')),
  );
  return {
    ca: of(issuer, authority, [isAuthority]).cert,
    server: of(distinguished('kube-apiserver'), fresh(), [extension('551d11', names)]),
    client: of(distinguished(name, organisation), fresh(), []),
  };
}

function certificate(issuer: Buffer, subject: Buffer, publicKey: KeyObject, signer: KeyObject, extensions: Buffer[]): string {
  const validity = sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('490101000000Z')));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1, ...Buffer.from(String(Math.random()).slice(2, 9))])),
    ...[ECDSA_SHA256, issuer, validity, subject, publicKey.export({ type: 'spki', format: 'der' })],
    ...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', content, signer)]));
  const lines = sequence(content, ECDSA_SHA256, signature)
    .toString('base64')
    .match(/.{1,64}/g);
  return `-----BEGIN CERTIFICATE-----\n${(lines ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;
}

function distinguished(name: string, organisation?: string): Buffer {
  const part = (kind: Buffer, text: string): Buffer => der(0x31, sequence(kind, der(0x0c, Buffer.from(text))));
  return sequence(...(organisation === undefined ? [] : [part(ORGANISATION, organisation)]), part(COMMON_NAME, name));
}

function extension(id: string, content: Buffer): Buffer {
  return sequence(oid(id), der(0x04, content));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

/** Tag, length, content. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const long = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...long]), content]);
}
