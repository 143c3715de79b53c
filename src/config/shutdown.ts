import { validateShutdownConfig, type ShutdownConfig, type ShutdownConfigError } from '../core/shutdown-config.js';
import type { LayeredSettings, Layers } from './layered.js';
import type { Report } from './report.js';

const KEYS = ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods', 'shutdownGracePeriodByPodPriority'] as const;

/** The three keys of a shutdown together; what is wrong with them is in the report, as the kubelet has it. */
export function readShutdown(settings: LayeredSettings, { files, unread }: Layers, report: Report): ShutdownConfig {
  const config: ShutdownConfig = {
    shutdownGracePeriodNs: settings.preset(['shutdownGracePeriod'], (layer) => layer.shutdownGracePeriod),
    shutdownGracePeriodCriticalPodsNs: settings.preset(
      ['shutdownGracePeriodCriticalPods'],
      (layer) => layer.shutdownGracePeriodCriticalPods,
    ),
    shutdownGracePeriodByPodPriority: settings.preset(
      ['shutdownGracePeriodByPodPriority'],
      (layer) => layer.shutdownGracePeriodByPodPriority,
    ),
  };
  // Where one of them is wrong by itself, or the file that may have it, that has been said.
  if (unread || files.some(({ wrong }) => KEYS.some((key) => wrong.includes(key)))) return config;
  for (const error of validateShutdownConfig(config)) {
    const { key, message } = error;
    const set = [key, ...KEYS].find((each) => settings.setBy((layer) => layer[each]) !== undefined) ?? key;
    const layer = settings.setBy((each) => each[set]);
    report.issue('EVICTD_CONFIG_SHUTDOWN', message, layer?.at([set]) ?? { file: 'default' }, hintOf(error));
  }
  return config;
}

function hintOf({ key, message }: ShutdownConfigError): string {
  if (key === 'shutdownGracePeriodByPodPriority') return 'remove one of them: groups by priority take the place of the two periods';
  if (message.includes('zero')) return 'write 0s for none, or 1s and more';
  return 'it is the last part of shutdownGracePeriod: lower it, or raise shutdownGracePeriod';
}
