/** The result of a background operation of the addon, or why there is none. Gives up after this time. Never rejects. */
export function withinTime<T>(withinMs: number, begin: (onDone: (result: T) => void) => { close(): void }): Promise<T | string> {
  return new Promise((resolve) => {
    let reading: { close(): void } | undefined;
    const timer = setTimeout(() => {
      reading?.close();
      resolve(`no answer for ${String(withinMs / 1000)} s`);
    }, withinMs);
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
