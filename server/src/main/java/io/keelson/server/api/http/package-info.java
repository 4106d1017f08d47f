/** The HTTP server: wiring of routes, connections, published OpenAPI. No SQL and no rules. */
@NullMarked
package io.keelson.server.api.http;

import org.jspecify.annotations.NullMarked;
