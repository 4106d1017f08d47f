/** Questions to people: inbox items, tickets, proposals. */
@NullMarked
package io.keelson.api.inbox;

import org.jspecify.annotations.NullMarked;
