export interface ServiceStatus {
  readonly state: 'stopped' | 'start-pending' | 'stop-pending' | 'running' | 'continue-pending' | 'pause-pending' | 'paused';
  readonly acceptsStop: boolean;
}

/**
 * Whether a service ends on a stop request: 'now', 'later' (it is starting and does not accept a stop yet), 'ending' (it
 * is ending), or 'never'.
 */
export type ServiceStop = 'now' | 'later' | 'ending' | 'never';

/**
 * In a pending state a service accepts nothing unless it reports otherwise (SERVICE_STATUS, dwControlsAccepted:
 * learn.microsoft.com, Win32 apps, winsvc).
 */
export function serviceStop({ state, acceptsStop }: ServiceStatus): ServiceStop {
  switch (state) {
    case 'stopped':
    case 'stop-pending':
      return 'ending';
    case 'start-pending':
    case 'continue-pending':
    case 'pause-pending':
      return acceptsStop ? 'now' : 'later';
    case 'running':
    case 'paused':
      return acceptsStop ? 'now' : 'never';
  }
}
