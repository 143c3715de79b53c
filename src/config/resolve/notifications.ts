import * as z from 'zod/mini';
import type { WebhookConfig } from '../../core/notify/notification.js';
import { flag, parsed, refuse } from '../value/scalar.js';
import { durationText, nodePathText, TextError } from '../value/value-text.js';
import { NS_PER_SECOND } from '../../core/quantity/duration.js';

const TIMEOUT = { least: NS_PER_SECOND, most: 60n * NS_PER_SECOND, otherwise: 10n * NS_PER_SECOND };
const EXAMPLE = 'write https://alerts.example.com/evictd';

const url = parsed((input) => {
  if (!URL.canParse(input)) throw new TextError('EVICTD_CONFIG_VALUE', `is not a URL: ${JSON.stringify(input)}`, EXAMPLE);
  const { protocol, username, password, href } = new URL(input);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new TextError('EVICTD_CONFIG_VALUE', `is neither http nor https: ${protocol}`, EXAMPLE);
  if (username !== '' || password !== '') {
    throw new TextError('EVICTD_CONFIG_VALUE', 'has a user name or a password in it', 'sign requests with secretFile instead');
  }
  return href;
});

/** A text stands for an object with only `url`. */
const webhook = z.pipe(
  z.transform((input: unknown) => (typeof input === 'string' ? { url: input } : input)),
  z.pipe(
    z.strictObject({
      url: z.optional(url),
      secretFile: z.optional(parsed((input) => nodePathText(input, '/etc/evictd/webhook.key'))),
      timeout: z.optional(parsed((input) => durationText(input, TIMEOUT.least, TIMEOUT.most))),
    }),
    z.transform((entry, payload): WebhookConfig => {
      if (entry.url === undefined) return refuse(payload, entry, 'EVICTD_CONFIG_MISSING', 'is missing', EXAMPLE, ['url']);
      return { url: entry.url, secretFile: entry.secretFile, timeoutNs: entry.timeout ?? TIMEOUT.otherwise };
    }),
  ),
);

export const notificationsSchema = z.strictObject({
  webhook: z.optional(webhook),
  desktop: z.optional(flag),
  killedSignal: z.optional(flag),
  oomdBusName: z.optional(flag),
  kernelLog: z.optional(flag),
  xattrs: z.optional(flag),
});
