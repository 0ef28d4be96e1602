// What is announced to those who can't see the page: not the transcript as it grows, but what has come to an end, and what waits for them. Pure.
import type { Settings } from '../messages';
import type { Model } from './model';
import { readable } from './safe';
import { span, t } from './words';

export interface Announcement { status: string[]; alert: string[] }

export class Announcer {
  private run: Model | undefined;
  private spoken = 0;
  private state = '';
  private readonly asked = new Set<string>();

  /** Returns what is new since the last call. Events from before the run was shown are not announced. */
  look(model: Model | undefined, how: Settings['announce'], reader: boolean, agent: string): Announcement {
    const out: Announcement = { status: [], alert: [] };
    if (!model) { this.run = undefined; return out; }
    const first = this.run?.run !== model.run;
    if (first) { this.asked.clear(); this.state = model.state; this.spoken = model.seq; }
    this.run = model;
    if (!first && model.state === 'running' && this.state !== 'running' && this.state !== 'waiting') { out.status.push(t('{0} works', agent)); }
    this.state = model.state;
    for (const e of model.entries.slice(model.entries.findLastIndex(o => o.seq <= this.spoken) + 1)) {
      if (e.kind === 'text' && !e.parent && e.done && reader && how === 'paragraphs') { out.status.push(readable(e.text.slice(0, 1000))); }
      if (e.kind === 'end' && how !== 'questions') {
        const facts = [e.took !== undefined ? span(e.took) : '', e.files > 0 ? t('{0} files', e.files) : ''].filter(Boolean).join(', ');
        (e.reason === 'failed' ? out.alert : out.status).push(`${e.reason === 'failed' ? t('Failed: {0}', e.text.split('\n')[0]!) : e.reason === 'interrupted' ? t('Stopped') : t('Done')}${facts && `, ${facts}`}`);
      }
    }
    this.spoken = settledTo(model, this.spoken);
    for (const q of model.open.values()) {
      if (!this.asked.has(q.id)) {
        this.asked.add(q.id);
        out.alert.push(t('{0} asks: {1}', agent, readable(q.text.slice(0, 300))));
      }
    }
    return out;
  }
}

/** Up to which seq all is announced: a message that grows is announced when it is over. */
function settledTo(model: Model, from: number): number {
  const growing = model.entries.find(e => e.seq > from && e.kind === 'text' && !e.done);
  return growing ? growing.seq - 1 : model.seq;
}
