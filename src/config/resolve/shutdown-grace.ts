import { validateShutdownConfig, type ShutdownConfig, type ShutdownConfigError } from '../../core/workload/shutdown-config.js';
import type { LayeredSettings, Layers } from '../merge/layer.js';
import type { Report } from '../value/report.js';

const KEYS = ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods', 'shutdownGracePeriodByPodPriority'] as const;

/** The three shutdown keys, validated together as in the kubelet. */
export function readShutdown(settings: LayeredSettings, { files, unread }: Layers, report: Report): ShutdownConfig {
  const config: ShutdownConfig = {
    shutdownGracePeriodNs: settings.preset('shutdownGracePeriod'),
    shutdownGracePeriodCriticalPodsNs: settings.preset('shutdownGracePeriodCriticalPods'),
    shutdownGracePeriodByPodPriority: settings.preset('shutdownGracePeriodByPodPriority'),
  };
  // An invalid key, or an unreadable file, has been reported already.
  if (unread || files.some(({ wrong }) => KEYS.some((key) => wrong.includes(key)))) return config;
  for (const error of validateShutdownConfig(config)) {
    const { key, message } = error;
    const set = [key, ...KEYS].find((each) => settings.setBy(each) !== undefined) ?? key;
    const layer = settings.setBy(set);
    report.issue('EVICTD_CONFIG_SHUTDOWN', message, layer?.at([set]) ?? { file: 'default' }, hintOf(error));
  }
  return config;
}

function hintOf({ key, message }: ShutdownConfigError): string {
  if (key === 'shutdownGracePeriodByPodPriority') return 'remove one of them: grace periods by priority replace the two periods';
  if (message.includes('zero')) return 'write 0s for none, or at least 1s';
  return 'lower it, or raise shutdownGracePeriod, which includes it';
}
