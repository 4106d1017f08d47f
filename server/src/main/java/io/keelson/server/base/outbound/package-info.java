/** The one client for everything that leaves the server over HTTP: tools, webhooks, model endpoints. */
@NullMarked
package io.keelson.server.base.outbound;

import org.jspecify.annotations.NullMarked;
