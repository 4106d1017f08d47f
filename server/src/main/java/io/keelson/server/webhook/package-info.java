/** Events sent on to receivers outside: endpoints, deliveries made from the feed, and their sending (Standard Webhooks). */
@NullMarked
package io.keelson.server.webhook;

import org.jspecify.annotations.NullMarked;
