// Where a run stands, in the words of the header. Pure.
import type { View } from '../messages';
import type { Model } from './model';

export type Condition = 'down' | 'untrusted' | 'first' | 'signIn' | 'failedStart' | 'connecting' | 'loading' | 'idle' | 'streaming' | 'waiting' | 'limited' | 'failed' | 'stopped' | 'interrupted' | 'paused' | 'ended' | 'readOnly';

export function condition(view: View | undefined, run: string | undefined, model: Model | undefined): Condition {
  if (!view) { return 'loading'; }
  if (!view.trusted) { return 'untrusted'; }
  if (view.health === 'stopped' || view.health === 'failed') { return 'down'; }
  if (view.starting?.error) { return 'failedStart'; }
  if (view.starting) { return view.starting.step === 'signIn' ? 'signIn' : 'connecting'; }
  if (run === undefined) { return 'first'; }
  if (!model) { return 'loading'; }
  if (model.state === 'waiting') { return 'waiting'; }
  if (model.state === 'running') { return model.retryAt > 0 ? 'limited' : 'streaming'; }
  const info = view.runs.find(r => r.run === run);
  const can = view.agents.find(a => a.name === (info?.agent ?? model.agent))?.can ?? [];
  if (model.state === 'ended') { return can.includes('resume') ? 'ended' : 'readOnly'; }
  if (info?.attached === false && !can.includes('resume') && model.entries.length > 0) { return 'readOnly'; }
  const last = model.entries.at(-1);
  if (last?.kind === 'end') {
    if (last.reason === 'failed') { return 'failed'; }
    if (last.reason === 'interrupted') { return last.text ? 'interrupted' : 'stopped'; }
  }
  return model.paused ? 'paused' : 'idle';
}

/** Whether a prompt can be sent to it, or at least typed for it. */
export const takesText = (c: Condition): 'yes' | 'type' | 'no' =>
  c === 'untrusted' || c === 'first' || c === 'readOnly' ? 'no' : c === 'down' || c === 'connecting' || c === 'loading' || c === 'signIn' || c === 'failedStart' ? 'type' : 'yes';
