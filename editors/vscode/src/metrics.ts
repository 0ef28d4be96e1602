// The metrics: how often each tool was called, how it went, and how long it took. No VS Code in here.
import type { MetricRow } from './manage/rows';
import type { Metric } from './protocol';
import type { Translate } from './words';

/** A row for each tool that was called, the most called first. */
export function metricRows(tools: Record<string, Metric>, t: Translate): MetricRow[] {
  const called = Object.entries(tools).filter(([, m]) => m.calls > 0).sort((a, b) => b[1].calls - a[1].calls || (a[0] < b[0] ? -1 : 1));
  const calls = Math.max(1, ...called.map(([, m]) => m.calls)), time = Math.max(1, ...called.map(([, m]) => m.p95Ms));
  return called.map(([tool, m]) => {
    const failed = m.calls - m.ok - m.denied;
    return {
      tool, calls: m.calls,
      went: ([['ok', m.ok], ['no', m.denied], ['bad', failed]] as const).filter(([, n]) => n > 0).map(([kind, n]) => ({ kind, share: n / calls })),
      wentText: [[t('ok'), m.ok], [t('denied'), m.denied], [t('failed'), failed]].map(([name, n]) => `${name} ${n}`).join(', '),
      took: ([['time', m.p50Ms], ['tail', m.p95Ms - m.p50Ms]] as const).filter(([, n]) => n > 0).map(([kind, n]) => ({ kind, share: n / time })),
      p50: ms(m.p50Ms), p95: ms(m.p95Ms), most: ms(m.maxMs),
      failures: Object.entries(m.errors ?? {}).map(([code, n]) => `${code} ${n}`).join(', '),
    };
  });
}

const ms = (n: number) => (n >= 1000 ? `${(n / 1000).toFixed(1)} s` : `${Math.round(n)} ms`);
