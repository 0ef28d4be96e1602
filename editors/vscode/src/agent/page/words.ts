// The words of the page. The extension knows their translations and gives them with the view.
import { asWritten, type Translate } from '../../words';

let translations: Readonly<Record<string, string>> = {};
export function speak(words: Readonly<Record<string, string>>): void { translations = words; }
export const t: Translate = (message, ...values) => asWritten(Object.hasOwn(translations, message) ? translations[message]! : message, ...values);

/** How long something took, or is ago: "0.3 s", "41 s", "2 min", "1 h 5 min". */
export function span(ms: number): string {
  const s = Math.max(0, ms) / 1000;
  if (s < 9.95) { return t('{0} s', s.toFixed(1)); }
  if (s < 59.5) { return t('{0} s', Math.round(s)); }
  const min = Math.round(s / 60);
  if (min < 60) { return t('{0} min', min); }
  return t('{0} h {1} min', Math.floor(min / 60), min % 60);
}

const time = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit' });
export function clock(ms: number): string { return ms ? time.format(ms) : ''; }

/** "12,345" → "12k", as the foot has no room for more. */
export function short(n: number): string {
  return n < 1000 ? String(n) : n < 999_500 ? `${Math.round(n / 1000)}k` : `${(n / 1e6).toFixed(1)}M`;
}
