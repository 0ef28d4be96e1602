// What kind of picture some bytes are. No VS Code in here.

/** The largest picture that goes to an agent, in bytes. */
export const largest = 5 << 20;

/** By its first bytes, whatever it is called; undefined is none that is taken. */
export function imageType(data: Uint8Array): string | undefined {
  const begins = (...bytes: number[]) => bytes.every((b, i) => data[i] === b);
  const word = (at: number, text: string) => [...text].every((c, i) => data[at + i] === c.charCodeAt(0));
  if (begins(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) { return 'image/png'; }
  if (begins(0xff, 0xd8, 0xff)) { return 'image/jpeg'; }
  if (word(0, 'GIF87a') || word(0, 'GIF89a')) { return 'image/gif'; }
  if (word(0, 'RIFF') && word(8, 'WEBP')) { return 'image/webp'; }
  return undefined;
}
