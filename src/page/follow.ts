import type { StatusDocument } from '../features/status/status-document.js';

const AGAIN_MS = 5_000;
/** Events come every 2 s: without one for so long the connection is dead. */
const SILENCE_MS = 20_000;
const NO_ANSWER = 'evictd does not answer. Trying again.';

/** Follows the status while the page is visible: by events, and by asking where evictd has too many followers. */
export function follow(show: (status: StatusDocument) => void, lost: (reason: string) => void): void {
  let source: EventSource | undefined;
  let timer: number | undefined;
  const connect = (afterMs: number): void => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      source?.close();
      source = new EventSource('api/v1/events');
      source.addEventListener('status', ({ data }: MessageEvent<string>) => {
        show(JSON.parse(data) as StatusDocument);
        connect(SILENCE_MS);
      });
      source.addEventListener('error', () => {
        source?.close();
        void ask();
        connect(AGAIN_MS);
      });
    }, afterMs);
  };
  const ask = async (): Promise<void> => {
    try {
      const answer = await fetch('api/v1/status');
      const json = (await answer.json()) as StatusDocument | { readonly error: { readonly message: string } };
      if ('error' in json) lost(json.error.message);
      else show(json);
    } catch {
      lost(NO_ANSWER);
    }
  };
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    source?.close();
    if (document.visibilityState === 'visible') connect(0);
  });
  connect(0);
}
