import type { Request } from '../../host/requests.js';

interface RequestCodes {
  readonly signal: string;
  readonly noInstance: string;
  readonly unanswered: string;
}

export const REQUEST_CODES: Readonly<Record<Request, RequestCodes>> = {
  reload: { signal: 'EVICTD_RELOAD_SIGNAL', noInstance: 'EVICTD_RELOAD_NO_INSTANCE', unanswered: 'EVICTD_RELOAD_UNANSWERED' },
  resume: { signal: 'EVICTD_RESUME_SIGNAL', noInstance: 'EVICTD_RESUME_NO_INSTANCE', unanswered: 'EVICTD_RESUME_UNANSWERED' },
};
