/** Triggers, and the deliveries of events that they receive. */
@NullMarked
package io.keelson.api.trigger;

import org.jspecify.annotations.NullMarked;
