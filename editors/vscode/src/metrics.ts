// The metrics page: how often each tool was called, how it went, and how long it took.
import type { Metric } from './protocol';
import { escape } from './tools/form';

const width = 180, height = 12;

export function metricsHtml(tools: Record<string, Metric>): string {
  const rows = Object.entries(tools).filter(([, m]) => m.calls > 0).sort((a, b) => b[1].calls - a[1].calls || (a[0] < b[0] ? -1 : 1));
  if (rows.length === 0) {
    return '<h1>Metrics</h1><p class="about">No tool was called yet.</p>';
  }
  const calls = Math.max(...rows.map(([, m]) => m.calls)), time = Math.max(1, ...rows.map(([, m]) => m.p95Ms));
  return `<h1>Metrics</h1>
    <p class="about">${rows.reduce((n, [, m]) => n + m.calls, 0)} calls since the server started.
      <span class="key ok"></span>ok <span class="key no"></span>denied <span class="key bad"></span>failed <span class="key time"></span>half of the calls took no longer; the pale part: 95 of 100</p>
    <table><thead><tr><th>Tool</th><th>Calls</th><th class="n"></th><th>Time</th><th class="n">p50</th><th class="n">p95</th><th class="n">most</th><th>Failures</th></tr></thead><tbody>
    ${rows.map(([name, m]) => `<tr>
      <td><code>${escape(name)}</code></td>
      <td>${bar([[m.ok, 'ok'], [m.denied, 'no'], [m.calls - m.ok - m.denied, 'bad']], calls)}</td><td class="n">${m.calls}</td>
      <td>${bar([[m.p50Ms, 'time'], [m.p95Ms - m.p50Ms, 'tail']], time)}</td>
      <td class="n">${ms(m.p50Ms)}</td><td class="n">${ms(m.p95Ms)}</td><td class="n">${ms(m.maxMs)}</td>
      <td>${escape(Object.entries(m.errors ?? {}).map(([code, n]) => `${code} ${n}`).join(', '))}</td></tr>`).join('')}
    </tbody></table>`;
}

const ms = (n: number) => (n >= 1000 ? `${(n / 1000).toFixed(1)} s` : `${Math.round(n)} ms`);

function bar(parts: [number, string][], most: number): string {
  let x = 0;
  const rects = parts.filter(([n]) => n > 0).map(([n, kind]) => {
    const w = Math.max(1, n / most * width);
    const rect = `<rect class="${kind}" x="${x.toFixed(1)}" y="0" width="${w.toFixed(1)}" height="${height}" rx="1"/>`;
    x += w;
    return rect;
  });
  return `<svg width="${width}" height="${height}" role="img" aria-label="${parts.map(([n, kind]) => `${kind} ${n}`).join(', ')}">${rects.join('')}</svg>`;
}
