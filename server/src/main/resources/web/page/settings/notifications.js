import { html, nothing } from 'lit';
import { get, send, signsIn } from '../../api/client.js';
import { me } from '../../store/me.js';
import { name } from '../../part/bits.js';
import { edit } from '../../part/editor.js';
import { events, hours, receivers, topics } from './receivers.js';

const fields = (receiver) => [
  events(receiver, 'Topics such as approval.needed or run.failed'),
  ...hours(receiver, Intl.DateTimeFormat().resolvedOptions().timeZone),
  ...(receiver ? [{ name: 'enabled', label: 'Sends messages', kind: 'checkbox', value: receiver.enabled }] : []),
];
/** A time zone is for quiet hours only. */
const body = ({ events: named, time_zone, ...values }) => ({
  ...values,
  time_zone: values.quiet_from ? time_zone : null,
  events: topics(named),
});

const create = () =>
  edit({
    title: 'Mail to my address',
    text: 'Messages go to the address for which your sign-in vouches. Their links answer as you.',
    yes: 'Add',
    fields: fields(),
    save: async (values) => (await send('POST', '/notifications', { body: body(values) })).json(),
  });

/** Messages to the person who looks. */
export const notifications = {
  title: 'Notifications',
  scope: 'runs:read',
  /** Only an identity provider vouches for an address. */
  load: async () => {
    const [page, adds] = await Promise.all([get('/notifications'), signsIn()]);
    return { ...page, adds };
  },
  view: receivers({
    path: '/notifications',
    title: 'Messages to me',
    one: 'these messages',
    edits: 'Edit my messages',
    fields,
    body,
    create,
    creates: 'Mail to my address…',
    address: (each) => html`<strong>${name(each.url.replace(/^mailto:/iu, ''), 160)}</strong>`,
    column: [
      'Quiet',
      (each) =>
        html`${each.quiet_from ? `${each.quiet_from}–${each.quiet_until} ${each.time_zone}` : 'never'}${each.digest_minutes ? `, gathered for ${each.digest_minutes} min` : nothing}`,
    ],
    keeps: (each) => each.owner !== me.name,
    none: [
      'No receivers',
      'Questions that wait for you, and runs that fail, can reach you by mail, in Slack and in Teams. An administrator adds receivers with you as the recipient; people who sign in at an identity provider add their own address.',
    ],
  }),
};
