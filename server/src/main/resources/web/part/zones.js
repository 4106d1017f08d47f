// Time zones to choose from.
import { prefs } from '../store/prefs.js';

/** The chosen zone, UTC, and all that the browser knows. */
export function zones() {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return [...new Set([prefs.values.zone, own, 'UTC', ...Intl.supportedValuesOf('timeZone')])];
}
