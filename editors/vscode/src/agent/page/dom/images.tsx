// Pictures in a row: each as wide as the row at most, and in an editor when it is clicked.
import { useEffect, useReducer } from 'preact/hooks';
import type { Image } from '../../event';
import { visible } from '../safe';
import { t } from '../words';
import type { App } from './app';

/** One that is larger is shown when a person asks for it. */
const unasked = 1 << 20;

const size = (bytes: number) => bytes < 1 << 20 ? `${Math.max(1, Math.round(bytes / 1024))} KB` : `${(bytes / (1 << 20)).toFixed(1)} MB`;

function Picture({ app, image }: { app: App; image: Image }) {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const key = `image:${image.image}`, wanted = image.bytes <= unasked || app.opened.has(key), held = app.pictures.get(image.image);
  useEffect(() => wanted && !held ? app.pictures.want(image.image, () => redraw(0)) : undefined, [wanted, held]);
  const name = image.alt ? t('Image: {0}', visible(image.alt)) : t('Image from {0}', app.agentTitle || t('the agent'));
  const what = `${image.width} × ${image.height}, ${size(image.bytes)}`;
  if (!wanted) {
    return <button type="button" class="quiet" onClick={() => { app.opened.add(key); redraw(0); }}>{t('Show {0}', name)} ({what})</button>;
  }
  if (held && !held.url) { return <div class="dim small">{name}: {held.why ? visible(held.why.slice(0, 300)) : t('it can\'t be shown')}</div>; }
  return (
    <button type="button" class="picture" title={t('Open in an Editor')} aria-label={t('{0}, {1}. Open in an editor', name, what)} disabled={!held} onClick={() => app.send({ type: 'image', run: app.run!, image: image.image, large: true })}>
      {held ? <img src={held.url} alt={name} width={image.width} height={image.height} /> : <span class="dim small">{name} ({what})</span>}
    </button>
  );
}

export function Images({ app, images }: { app: App; images: readonly Image[] }) {
  return <div class="pictures">{images.map((i, n) => <Picture key={`${i.image}${n}`} app={app} image={i} />)}</div>;
}
