/** Routes of the inbox, its decisions, the work board and reports. */
@NullMarked
package io.keelson.server.api.http.inbox;

import org.jspecify.annotations.NullMarked;
