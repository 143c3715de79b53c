/** What the service manager tells of a service. */
export interface ServiceStatus {
  readonly state: 'stopped' | 'start-pending' | 'stop-pending' | 'running' | 'continue-pending' | 'pause-pending' | 'paused';
  readonly acceptsStop: boolean;
}

/** Whether a service would end if it were told to: 'now', 'later', because it is about to say whether it takes a stop, 'unasked', because it is ending, or 'never'. */
export type ServiceStop = 'now' | 'later' | 'unasked' | 'never';

/** A service accepts nothing while its state is pending, unless it says so (SERVICE_STATUS, dwControlsAccepted: learn.microsoft.com, Win32 apps, winsvc). */
export function serviceStop({ state, acceptsStop }: ServiceStatus): ServiceStop {
  switch (state) {
    case 'stopped':
    case 'stop-pending':
      return 'unasked';
    case 'start-pending':
    case 'continue-pending':
    case 'pause-pending':
      return acceptsStop ? 'now' : 'later';
    case 'running':
    case 'paused':
      return acceptsStop ? 'now' : 'never';
  }
}
