// The metrics page: how often each tool was called, how it went, and how long it took.
import type { Metric } from './protocol';
import { escape } from './tools/form';
import type { Translate } from './words';

const width = 180, height = 12;

export function metricsHtml(tools: Record<string, Metric>, t: Translate): string {
  const word = (message: string) => escape(message), title = `<h1>${word(t('Metrics'))}</h1>`;
  const rows = Object.entries(tools).filter(([, m]) => m.calls > 0).sort((a, b) => b[1].calls - a[1].calls || (a[0] < b[0] ? -1 : 1));
  if (rows.length === 0) {
    return `${title}<p class="about">${word(t('No tool was called yet.'))}</p>`;
  }
  const calls = Math.max(...rows.map(([, m]) => m.calls)), time = Math.max(1, ...rows.map(([, m]) => m.p95Ms));
  return `${title}
    <p class="about">${word(t('{0} calls since the server started.', rows.reduce((n, [, m]) => n + m.calls, 0)))}
      <span class="key ok"></span>${word(t('ok'))} <span class="key no"></span>${word(t('denied'))} <span class="key bad"></span>${word(t('failed'))}
      <span class="key time"></span>${word(t('half of the calls took no longer; the pale part: 95 of 100'))}</p>
    <table><thead><tr><th>${word(t('Tool'))}</th><th>${word(t('Calls'))}</th><th class="n"></th><th>${word(t('Time'))}</th><th class="n">p50</th><th class="n">p95</th><th class="n">${word(t('most'))}</th><th>${word(t('Failures'))}</th></tr></thead><tbody>
    ${rows.map(([name, m]) => `<tr>
      <td><code>${escape(name)}</code></td>
      <td>${bar([[m.ok, 'ok', t('ok')], [m.denied, 'no', t('denied')], [m.calls - m.ok - m.denied, 'bad', t('failed')]], calls)}</td><td class="n">${m.calls}</td>
      <td>${bar([[m.p50Ms, 'time', 'p50'], [m.p95Ms - m.p50Ms, 'tail', 'p95']], time)}</td>
      <td class="n">${ms(m.p50Ms)}</td><td class="n">${ms(m.p95Ms)}</td><td class="n">${ms(m.maxMs)}</td>
      <td>${escape(Object.entries(m.errors ?? {}).map(([code, n]) => `${code} ${n}`).join(', '))}</td></tr>`).join('')}
    </tbody></table>`;
}

const ms = (n: number) => (n >= 1000 ? `${(n / 1000).toFixed(1)} s` : `${Math.round(n)} ms`);

function bar(parts: [number, string, string][], most: number): string {
  let x = 0;
  const rects = parts.filter(([n]) => n > 0).map(([n, kind]) => {
    const w = Math.max(1, n / most * width);
    const rect = `<rect class="${kind}" x="${x.toFixed(1)}" y="0" width="${w.toFixed(1)}" height="${height}" rx="1"/>`;
    x += w;
    return rect;
  });
  return `<svg width="${width}" height="${height}" role="img" aria-label="${escape(parts.map(([n, , name]) => `${name} ${n}`).join(', '))}">${rects.join('')}</svg>`;
}
