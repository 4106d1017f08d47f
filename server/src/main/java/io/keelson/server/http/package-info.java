/** The HTTP API: routes, authentication at the door, JSON to domain and back. No SQL and no rules live here. */
@NullMarked
package io.keelson.server.http;

import org.jspecify.annotations.NullMarked;
