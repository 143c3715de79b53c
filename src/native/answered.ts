/**
 * The result of what the addon does in the background, or why there is none: it is given up after this time. Never rejects.
 *
 * @param givenUp  aborted with a text: it is given up at once, and that is why
 */
export function answered<T>(
  withinMs: number,
  begin: (onDone: (result: T) => void) => { close(): void },
  givenUp?: AbortSignal,
): Promise<T | string> {
  return new Promise((resolve) => {
    let reading: { close(): void } | undefined;
    const giveUp = (why: string): void => {
      clearTimeout(timer);
      reading?.close();
      resolve(why);
    };
    const timer = setTimeout(() => {
      giveUp(`no answer for ${String(withinMs / 1000)} s`);
    }, withinMs);
    givenUp?.addEventListener('abort', () => {
      giveUp(String(givenUp.reason));
    });
    try {
      reading = begin((result) => {
        clearTimeout(timer);
        resolve(result);
      });
    } catch (error) {
      clearTimeout(timer);
      resolve(String(error));
    }
  });
}
