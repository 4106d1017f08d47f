// Events as rows of tables: of one run, or of all.
import { html, nothing } from 'lit';
import { shortId } from '../draw/format.js';
import { fromRun, name, when } from './bits.js';
import { icon } from './icon.js';
import { json } from './json.js';

const UUID = /^(\w+:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const actor = ({ actor_type: type, actor_id: id }) =>
  html`${type === 'human' ? html`${icon('user', 'small')} ` : nothing}${UUID.test(id ?? '') ? html`${id.includes(':') ? id.split(':')[0] : type} <span class="mono small" title=${id}>${shortId(id)}</span>` : name(id ?? type, 60)}`;

/** @param first what the first cell shows */
export const eventRow = (event, first) =>
  html`<tr>
    <td class="num">${when(event.created_at)}</td>
    <td>${first}</td>
    <td><strong>${event.event_type.replaceAll('_', ' ')}</strong></td>
    <td class="soft">${actor(event)}</td>
    <td>
      ${event.payload?.source_run_id ? html`${fromRun(event.payload.source_run_id)} ` : nothing}${Object.keys(event.payload ?? {}).length ? json('Payload', event.payload) : nothing}
    </td>
  </tr>`;

/** Whether an event has these words: in its type, its actor or its payload. */
export const hasWords = (event, words) =>
  !words ||
  `${event.event_type.replaceAll('_', ' ')} ${event.event_type} ${event.actor_id ?? ''} ${JSON.stringify(event.payload ?? {})}`
    .toLowerCase()
    .includes(words);
